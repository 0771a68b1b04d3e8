package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// s3Reader reads one version of one key.
type s3Reader struct {
	store       *s3Store
	client      *s3.Client
	bucket, key string
	url         string
	size        int64
	etag        atomic.Pointer[string] // nil until known
}

func newS3Reader(s *s3Store, client *s3.Client, bucket, key string, o Object) *s3Reader {
	r := &s3Reader{store: s, client: client, bucket: bucket, key: key, url: o.URL, size: o.Size}
	if o.ETag != "" {
		r.etag.Store(&o.ETag)
	}
	return r
}

func (r *s3Reader) Size() int64       { return r.size }
func (r *s3Reader) Remote() bool      { return true }
func (r *s3Reader) Drop(int64, int64) {}

// Want does nothing: who reads from S3 reads ahead with requests of its own.
func (r *s3Reader) Want(int64, int64) {}
func (r *s3Reader) Close() error      { return nil }

// ReadAt asks again, and only for what is missing, until p is full.
func (r *s3Reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if ctx.Err() != nil {
		return stopped(r.url, ctx)
	}
	if err := checkRange(r.url, off, len(p), r.size); err != nil {
		return err
	}
	if len(p) == 0 {
		return nil
	}
	got := 0
	place := func() string { return rangeOf(r.url, off, len(p)) }
	return r.store.persist(ctx, place, func(ctx context.Context, dog watchdog) (bool, error) {
		n, err := r.get(ctx, dog, p[got:], off+int64(got))
		got += n
		return n > 0, err
	})
}

// get makes one request and says how much of p it filled.
func (r *s3Reader) get(ctx context.Context, dog watchdog, p []byte, off int64) (int, error) {
	span := fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)
	out, err := r.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &r.bucket, Key: &r.key, Range: &span, IfMatch: r.etag.Load(),
	})
	if err != nil {
		return 0, err
	}
	defer out.Body.Close()
	if err := r.check(out, off, len(p)); err != nil {
		return 0, err
	}
	n := 0
	for n < len(p) {
		m, err := out.Body.Read(p[n:])
		n += m
		r.store.opts.Stats.Bytes.Add(int64(m))
		if n == len(p) {
			break
		}
		if errors.Is(err, io.EOF) {
			return n, fault(fmt.Sprintf("the body ended after %d of %d bytes", n, len(p)))
		}
		if err != nil {
			return n, err
		}
		dog.pat()
	}
	return n, nil
}

// check compares the headers with what was asked for. A 200 is taken only
// where the range was the whole object.
func (r *s3Reader) check(out *s3.GetObjectOutput, off int64, n int) error {
	if err := r.checkETag(out.ETag, off, n); err != nil {
		return err
	}
	status := http.StatusPartialContent
	if raw, ok := awsmiddleware.GetRawResponse(out.ResultMetadata).(*smithyhttp.Response); ok {
		status = raw.StatusCode
	}
	if length := out.ContentLength; status == http.StatusPartialContent && length != nil && *length != int64(n) {
		return fault(fmt.Sprintf("%d bytes announced, %d asked for", *length, n))
	}
	switch status {
	case http.StatusPartialContent:
		return r.checkSpan(out.ContentRange, off, n)
	case http.StatusOK:
		if length := out.ContentLength; length != nil && *length != r.size {
			return changed(rangeOf(r.url, off, n), fmt.Sprintf("%d bytes when listed, %d now", r.size, *length))
		}
		if off == 0 && int64(n) == r.size {
			return nil
		}
		return fault("the whole object came instead of the range")
	}
	return fault(fmt.Sprintf("status %d instead of 206", status))
}

// checkETag holds the reader to one version. Where the listing gave none, the
// first response decides.
func (r *s3Reader) checkETag(got *string, off int64, n int) error {
	if got == nil || *got == "" {
		return nil
	}
	want := r.etag.Load()
	if want == nil {
		r.etag.CompareAndSwap(nil, got)
		want = r.etag.Load()
	}
	if strings.Trim(*want, `"`) != strings.Trim(*got, `"`) {
		return changed(rangeOf(r.url, off, n), fmt.Sprintf("ETag %s when listed, %s now", *want, *got))
	}
	return nil
}

// checkSpan verifies "bytes first-last/size".
func (r *s3Reader) checkSpan(header *string, off int64, n int) error {
	if header == nil {
		return fault("no Content-Range in the answer")
	}
	span, total, _ := strings.Cut(strings.TrimPrefix(*header, "bytes "), "/")
	if span != fmt.Sprintf("%d-%d", off, off+int64(n)-1) {
		return fault("Content-Range is " + *header)
	}
	if size, err := strconv.ParseInt(total, 10, 64); total != "*" && (err != nil || size != r.size) {
		return changed(rangeOf(r.url, off, n), fmt.Sprintf("%d bytes when listed, %s now", r.size, total))
	}
	return nil
}
