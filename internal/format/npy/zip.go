package npy

import (
	"archive/zip"
	"bufio"
	"context"
	"io"
	"strings"

	"github.com/klauspost/compress/flate"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// inflateCost covers one decompressor and its input.
const inflateCost = 160 << 10

// member is where an array's file lies in an archive.
type member struct {
	at     int64 // of its bytes as stored
	size   int64 // of these
	packed bool
}

// archive finds the arrays of a .npz file by its directory.
func archive(ctx context.Context, r store.Reader) ([]grid, error) {
	z, err := zip.NewReader(&readerAt{ctx, r}, r.Size())
	if err != nil {
		return nil, format.Error(format.ErrData, "%w", err)
	}
	var out []grid
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		at, err := f.DataOffset()
		if err != nil {
			return nil, format.Error(format.ErrData, "%s: %w", f.Name, err)
		}
		a := grid{name: name, zip: &member{at: at, size: int64(f.CompressedSize64), packed: f.Method == zip.Deflate}}
		if f.Method != zip.Store && f.Method != zip.Deflate {
			return nil, format.Error(format.ErrData, "%s: compressed by method %d, which is not read", f.Name, f.Method)
		}
		read := func(p []byte, off int64) error { return r.ReadAt(ctx, p, at+off) }
		if a.zip.packed {
			read = func(p []byte, _ int64) error {
				in := newInflater(ctx, r, a.zip)
				defer in.Close()
				return in.read(p)
			}
		}
		if err := a.open(read, int64(f.UncompressedSize64)); err != nil {
			return nil, format.Error(format.ErrData, "%s: %w", f.Name, err)
		}
		out = append(out, a)
	}
	return out, nil
}

// readerAt is a store's reader as archive/zip wants it.
type readerAt struct {
	ctx context.Context
	r   store.Reader
}

func (r *readerAt) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), max(0, r.r.Size()-off))
	if err := r.r.ReadAt(r.ctx, p[:n], off); err != nil {
		return 0, err
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// inflater reads a compressed member from its front.
type inflater struct {
	io.ReadCloser
	src *readerAt
	row int64 // that comes next
}

func newInflater(ctx context.Context, r store.Reader, m *member) *inflater {
	src := &readerAt{ctx, r}
	in := bufio.NewReaderSize(io.NewSectionReader(src, m.at, m.size), 64<<10)
	return &inflater{ReadCloser: flate.NewReader(in), src: src}
}

// read fills p with the next bytes.
func (z *inflater) read(p []byte) error {
	if _, err := io.ReadFull(z, p); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return format.Error(format.ErrData, "%w", err)
	}
	return nil
}

// packs are the inflaters of one object's arrays.
type packs struct {
	object int
	in     []*inflater
}

func (p *packs) close() {
	if p == nil {
		return
	}
	for _, z := range p.in {
		if z != nil {
			z.Close()
		}
	}
}

// unpack fills p with the rows of a compressed array from row on. Rows come in
// order: only after a resume some are passed over.
func (s *reading) unpack(ctx context.Context, r store.Reader, object, i int, row int64, p []byte) error {
	if s.packs == nil || s.packs.object != object {
		s.packs.close()
		s.packs = &packs{object: object, in: make([]*inflater, len(s.objects[object].arrays))}
	}
	a := &s.objects[object].arrays[i]
	z := s.packs.in[i]
	if z == nil {
		z = newInflater(ctx, r, a.zip)
		s.packs.in[i] = z
		if _, err := io.CopyN(io.Discard, z, a.start); err != nil {
			return format.Error(format.ErrData, "%w", err)
		}
	}
	z.src.ctx, z.src.r = ctx, r
	if n := (row - z.row) * a.width; n > 0 {
		if _, err := io.CopyN(io.Discard, z, n); err != nil {
			return format.Error(format.ErrData, "%w", err)
		}
	}
	if a.width > 0 {
		z.row = row + int64(len(p))/a.width
	}
	return z.read(p)
}
