package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// List asks for the literal part of a pattern and chooses from that. Keys that
// end in a slash are other tools' directory marks, never objects.
func (s *s3Store) List(ctx context.Context, pattern string) ([]Object, error) {
	bucket, key, err := splitS3(pattern)
	if err != nil {
		return nil, err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pattern, err)
	}
	l := lister{store: s, client: client, ctx: ctx, pattern: pattern, bucket: bucket}
	if isGlob(key) {
		err = l.glob(key)
	} else {
		err = l.path(key)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(l.found, byURL)
	return slices.CompactFunc(l.found, sameURL), nil
}

// lister collects objects for one pattern.
type lister struct {
	store   *s3Store
	client  *s3.Client
	ctx     context.Context
	pattern string // as the user wrote it, for errors
	bucket  string
	found   []Object
}

func (l *lister) place() string { return l.pattern }

func (l *lister) add(key string, size *int64, etag *string) {
	l.found = append(l.found, Object{
		URL:  s3Scheme + l.bucket + "/" + key,
		Size: aws.ToInt64(size),
		ETag: aws.ToString(etag),
	})
}

// path adds the object called key and all objects below key as a directory.
// The object is asked for by itself, so that who may read it but not list the
// bucket gets it.
func (l *lister) path(key string) error {
	dir := key
	if key != "" && !strings.HasSuffix(key, "/") {
		dir = key + "/"
		if err := l.head(key); err != nil && !errors.Is(err, ErrNotFound) && statusOf(err) != 403 {
			return err
		}
	}
	alone := len(l.found)
	err := l.pages(dir, func(k string) bool { return visibleBelow(k[len(dir):]) })
	switch {
	case err != nil && alone > 0 && statusOf(err) == 403:
		return nil
	case err != nil:
		return err
	case len(l.found) == 0:
		return notFound(l.pattern, "not found")
	}
	return nil
}

// glob adds the objects that match. A choice of the pattern without wildcards
// must exist.
func (l *lister) glob(key string) error {
	m, err := newMatcher(key)
	if err != nil {
		return fmt.Errorf("%s: %w", l.pattern, err)
	}
	if err := l.pages(m.prefix, m.match); err != nil {
		return err
	}
	if name := m.missing(); name != "" {
		return notFound(s3Scheme+l.bucket+"/"+name, "not found")
	}
	if len(l.found) == 0 {
		return notFound(l.pattern, "no object matches")
	}
	return nil
}

func (l *lister) head(key string) error {
	return l.store.persist(l.ctx, l.place, func(ctx context.Context, _ watchdog) (bool, error) {
		out, err := l.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &l.bucket, Key: &key})
		if err != nil {
			return false, err
		}
		l.add(key, out.ContentLength, out.ETag)
		return true, nil
	})
}

// pages adds the keys with a prefix that want chooses.
func (l *lister) pages(prefix string, want func(key string) bool) error {
	in := &s3.ListObjectsV2Input{Bucket: &l.bucket, Prefix: &prefix}
	for {
		var out *s3.ListObjectsV2Output
		err := l.store.persist(l.ctx, l.place, func(ctx context.Context, _ watchdog) (_ bool, err error) {
			out, err = l.client.ListObjectsV2(ctx, in)
			if err != nil {
				return false, err
			}
			return false, checkPage(in, out)
		})
		if err != nil {
			return err
		}
		for _, o := range out.Contents {
			key := aws.ToString(o.Key)
			if !strings.HasSuffix(key, "/") && want(key) {
				l.add(key, o.Size, o.ETag)
			}
		}
		if !aws.ToBool(out.IsTruncated) {
			return nil
		}
		in.ContinuationToken = out.NextContinuationToken
	}
}

// checkPage finds the damage that a page itself can show.
func checkPage(in *s3.ListObjectsV2Input, out *s3.ListObjectsV2Output) error {
	if out.KeyCount != nil && int(*out.KeyCount) != len(out.Contents) {
		return fault(fmt.Sprintf("a list page announced %d keys and had %d", *out.KeyCount, len(out.Contents)))
	}
	if !aws.ToBool(out.IsTruncated) {
		return nil
	}
	next := aws.ToString(out.NextContinuationToken)
	if next == "" || next == aws.ToString(in.ContinuationToken) {
		return fault("a list page says that more follow, and not where")
	}
	return nil
}
