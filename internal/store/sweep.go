package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// temporary are the names of files that localOutput has not committed.
var temporary = regexp.MustCompile(`^\..+\.[A-Z2-7]{8}\.tmp$`)

// Sweep removes the hidden files below a directory, hidden directories
// included.
func (l local) Sweep(ctx context.Context, url string) error {
	root := strings.TrimPrefix(url, fileScheme)
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !e.Type().IsRegular() || !temporary.MatchString(e.Name()):
			return nil
		}
		return os.Remove(name)
	})
	if err != nil {
		return system(url, err)
	}
	return nil
}

// Sweep ends the uploads below a prefix that were begun and not completed.
func (s *s3Store) Sweep(ctx context.Context, url string) error {
	bucket, prefix, err := splitS3(url)
	if err != nil {
		return err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	place := func() string { return url }
	in := &s3.ListMultipartUploadsInput{Bucket: &bucket, Prefix: &prefix}
	for {
		var out *s3.ListMultipartUploadsOutput
		err := s.persist(ctx, place, func(ctx context.Context, _ watchdog) (_ bool, err error) {
			out, err = client.ListMultipartUploads(ctx, in)
			return false, err
		})
		if err != nil {
			return err
		}
		for _, u := range out.Uploads {
			err := s.persist(ctx, place, func(ctx context.Context, _ watchdog) (bool, error) {
				_, err := client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &bucket, Key: u.Key, UploadId: u.UploadId})
				return false, err
			})
			if err != nil && !errors.Is(err, ErrNotFound) {
				return err
			}
		}
		if !aws.ToBool(out.IsTruncated) {
			return nil
		}
		in.KeyMarker, in.UploadIdMarker = out.NextKeyMarker, out.NextUploadIdMarker
	}
}

// Sweep makes router a Creator.
func (r *router) Sweep(ctx context.Context, url string) error { return r.pick(url).Sweep(ctx, url) }
