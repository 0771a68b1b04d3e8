package store

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

// abortTime bounds the taking back of what was sent, which must happen when
// the writer's own context has ended.
const abortTime = 30 * time.Second

// Patch changes the part that is held back.
func (o *s3Output) Patch(p []byte, off int64) error {
	if err := checkPatch(o.url, p, off, o.size); err != nil {
		return err
	}
	copy(o.head.Bytes()[off:], p)
	return nil
}

// Commit sends what is left and makes the object appear.
func (o *s3Output) Commit(ctx context.Context) error {
	if o.over {
		return fmt.Errorf("%s: %w", o.url, fs.ErrClosed)
	}
	err := o.commit(ctx)
	if err != nil {
		o.Abort()
		return err
	}
	o.over = true
	o.cancel()
	o.head.Free()
	return nil
}

func (o *s3Output) commit(ctx context.Context) error {
	if o.upload == "" {
		return o.put(ctx, o.head.Bytes()[:o.size])
	}
	if o.cur != nil {
		if err := o.send(); err != nil {
			return err
		}
	}
	first, err := o.part(ctx, 1, o.head.Bytes())
	if e := o.wait(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return o.complete(ctx, append([]*string{first}, o.etags...))
}

// put writes a small object in one request.
func (o *s3Output) put(ctx context.Context, data []byte) error {
	return o.store.persist(ctx, o.place, func(ctx context.Context, dog watchdog) (bool, error) {
		body := o.body(data, dog)
		defer body.detach()
		_, err := o.client.PutObject(ctx, &s3.PutObjectInput{
			Bucket: &o.bucket, Key: &o.key, Body: body, ContentLength: aws.Int64(int64(len(data))),
		})
		return false, err
	})
}

// complete makes one object of all parts. An answer that got lost may have
// been a yes: when the upload is no longer there, the object is looked at.
func (o *s3Output) complete(ctx context.Context, etags []*string) error {
	parts := make([]types.CompletedPart, len(etags))
	for i, e := range etags {
		parts[i] = types.CompletedPart{ETag: e, PartNumber: aws.Int32(int32(i + 1))}
	}
	tries := 0
	return o.store.persist(ctx, o.place, func(ctx context.Context, dog watchdog) (bool, error) {
		dog.allow(6) // S3 says that it can take minutes
		tries++
		_, err := o.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &o.bucket, Key: &o.key, UploadId: &o.upload,
			MultipartUpload: &types.CompletedMultipartUpload{Parts: parts},
		})
		if tries > 1 && codeOf(err) == "NoSuchUpload" && o.there(ctx, len(parts)) {
			return true, nil
		}
		return false, err
	})
}

// there says whether the object is the one that was uploaded: S3 ends the ETag
// of a multipart object with the number of its parts.
func (o *s3Output) there(ctx context.Context, parts int) bool {
	out, err := o.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &o.bucket, Key: &o.key})
	if err != nil || aws.ToInt64(out.ContentLength) != o.size {
		return false
	}
	var hash string
	var n int
	_, err = fmt.Sscanf(aws.ToString(out.ETag), "\"%32s-%d", &hash, &n)
	return err == nil && n == parts
}

// Abort takes the parts back that were sent.
func (o *s3Output) Abort() {
	if o.over {
		return
	}
	o.over = true
	ctx, cancel := context.WithTimeout(context.WithoutCancel(o.ctx), abortTime)
	defer cancel()
	o.cancel()
	o.wait() // its error has no more to say
	o.cur.Free()
	o.head.Free()
	if o.upload == "" {
		return
	}
	o.store.persist(ctx, o.place, func(ctx context.Context, _ watchdog) (bool, error) {
		_, err := o.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{
			Bucket: &o.bucket, Key: &o.key, UploadId: &o.upload,
		})
		return false, err
	})
}
