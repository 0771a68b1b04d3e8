package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// S3's rules for multipart uploads, and how we use them.
const (
	leastPart = 5 << 20 // of all parts but the last
	mostParts = 10_000

	firstPart = 8 << 20 // parts begin with this size, where the share has it,
	growEvery = 500     // double after this many,
	mostPart  = 32 << 20

	s3WriteLeast = 2 * leastPart          // the part held back, and one that fills or is sent
	s3WriteMost  = leastPart + 2*mostPart // the part held back, one that fills, one that is sent
)

// Create contacts nobody before the first part is full. The first part is held
// back until the end, so that it can be patched.
func (s *s3Store) Create(ctx context.Context, url string, share *mem.Budget) (Output, error) {
	bucket, key, err := splitS3(url)
	if err != nil {
		return nil, err
	}
	if key == "" || key[len(key)-1] == '/' {
		return nil, errors.New(url + ": a bucket or directory, not an object")
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	if share.Limit() < s3WriteLeast {
		return nil, fmt.Errorf("%s: %w", url, &mem.TooSmallError{Share: "output", Need: s3WriteLeast, Limit: share.Limit()})
	}
	o := &s3Output{store: s, client: client, bucket: bucket, key: key, url: url, share: share}
	o.ctx, o.cancel = context.WithCancel(ctx)
	if o.head, err = share.Map(ctx, leastPart); err != nil {
		o.cancel()
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	o.room = o.head.Bytes()
	return o, nil
}

// Remove takes an object away.
func (s *s3Store) Remove(ctx context.Context, url string) error {
	bucket, key, err := splitS3(url)
	if err != nil {
		return err
	}
	client, err := s.connect(ctx)
	if err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	err = s.persist(ctx, func() string { return url }, func(ctx context.Context, _ watchdog) (bool, error) {
		_, err := client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
		return false, err
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// s3Output is one object on its way: part 1 in head, part 2 and on in turn in
// cur, which fills, and in the block that is being sent.
type s3Output struct {
	store       *s3Store
	client      *s3.Client
	bucket, key string
	url         string
	ctx         context.Context // of all that is sent before Commit
	cancel      context.CancelFunc
	share       *mem.Budget

	head   *mem.Block
	cur    *mem.Block // nil while head fills
	room   []byte     // what is free of the block that fills
	size   int64
	sent   *stream.Future // the upload under way
	upload string         // multipart upload's id; "" before there is one
	etags  []*string      // of parts 2 and on
	over   bool
}

func (o *s3Output) place() string { return o.url }

func (o *s3Output) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		if len(o.room) == 0 {
			if err := o.turn(); err != nil {
				return done, err
			}
		}
		n := copy(o.room, p[done:])
		o.room = o.room[n:]
		done += n
		o.size += int64(n)
	}
	return done, nil
}

// turn sends the block that is full and takes the next.
func (o *s3Output) turn() error {
	if o.ctx.Err() != nil {
		return stopped(o.url, o.ctx)
	}
	if o.upload == "" {
		if err := o.begin(); err != nil {
			return err
		}
	}
	if o.cur != nil {
		if err := o.send(); err != nil {
			return err
		}
	}
	n, err := o.partSize()
	if err != nil {
		return err
	}
	// Waits, where the share holds no two of them, for nobody: the block that
	// is being sent is then back already.
	if int64(mem.BlockSize(n)) > o.share.Free() {
		if err := o.wait(); err != nil {
			return err
		}
	}
	if o.cur, err = o.share.Map(o.ctx, n); err != nil {
		return fmt.Errorf("%s: %w", o.url, err)
	}
	o.room = o.cur.Bytes()
	return nil
}

// partSize is that of the next part: as large as the share allows twice over,
// or once where it is small, and growing so that 10,000 reach far.
func (o *s3Output) partSize() (int, error) {
	next := 2 + len(o.etags)
	if next > mostParts {
		return 0, &placed{place: o.url, kind: ErrStore,
			text: fmt.Sprintf("more than %s in one object at this memory; write a directory of parts (-o …/)", mem.Format(o.size))}
	}
	free := o.share.Limit() - int64(o.head.Cap())
	most := free / 2
	if most < leastPart {
		most = free
	}
	want := int64(firstPart) << min(8, next/growEvery)
	n := int(min(want, most, mostPart))
	// A block costs up to a sixteenth more than was asked for.
	for int64(mem.BlockSize(n)) > most && n > leastPart {
		n -= 64 << 10
	}
	return max(n, leastPart), nil
}

// begin starts a multipart upload.
func (o *s3Output) begin() error {
	return o.store.persist(o.ctx, o.place, func(ctx context.Context, _ watchdog) (bool, error) {
		out, err := o.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &o.bucket, Key: &o.key})
		if err != nil {
			return false, err
		}
		if o.upload = aws.ToString(out.UploadId); o.upload == "" {
			return false, fault("an upload without a name")
		}
		return true, nil
	})
}

// send uploads cur, as far as it is full, while the caller goes on. At most
// one upload is under way.
func (o *s3Output) send() error {
	if err := o.wait(); err != nil {
		return err
	}
	block := o.cur
	data := block.Bytes()[:len(block.Bytes())-len(o.room)]
	o.cur, o.room = nil, nil
	o.etags = append(o.etags, nil)
	number := len(o.etags)
	o.sent = stream.Async(func() (err error) {
		defer block.Free()
		o.etags[number-1], err = o.part(o.ctx, number+1, data)
		return err
	})
	return nil
}

// wait ends the upload under way.
func (o *s3Output) wait() error {
	if o.sent == nil {
		return nil
	}
	err := o.sent.Wait()
	o.sent = nil
	return err
}

// part uploads one part and returns its ETag.
func (o *s3Output) part(ctx context.Context, number int, data []byte) (etag *string, err error) {
	place := func() string { return fmt.Sprintf("%s: part %d", o.url, number) }
	err = o.store.persist(ctx, place, func(ctx context.Context, dog watchdog) (bool, error) {
		body := o.body(data, dog)
		defer body.detach()
		out, err := o.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &o.bucket, Key: &o.key, UploadId: &o.upload, PartNumber: aws.Int32(int32(number)),
			Body: body, ContentLength: aws.Int64(int64(len(data))),
		})
		if err != nil {
			return false, err
		}
		if etag = out.ETag; aws.ToString(etag) == "" {
			return false, fault("a part without an ETag")
		}
		return true, nil
	})
	return etag, err
}

// body is data on its way; the watchdog is patted while it moves.
func (o *s3Output) body(data []byte, dog watchdog) *sentBody {
	o.store.opts.Stats.Written.Add(int64(len(data)))
	return &sentBody{data: data, sent: dog.pat}
}
