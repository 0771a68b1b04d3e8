package image

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
	"github.com/weir-data/weir/internal/store"
)

// picture makes an image of a kind.
func picture(t testing.TB, kind string, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Gray{3}, color.Gray{200}})
	var err error
	switch kind {
	case "jpg":
		err = jpeg.Encode(&out, img, nil)
	case "png":
		err = png.Encode(&out, img)
	case "gif":
		err = gif.Encode(&out, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFilesAreRows reads a folder of images, small ones and one that is larger
// than a batch.
func TestFilesAreRows(t *testing.T) {
	var c formattest.Case
	var rows []string
	for i, kind := range []string{"jpg", "png", "gif", "jpg", "png", "jpg", "gif"} {
		data := picture(t, kind, 3+i, 50+7*i)
		if i == 4 {
			noise := make([]byte, 3<<20)
			for j := range noise {
				noise[j] = byte(rand.Uint32())
			}
			data = append(data, noise...)
		}
		name := fmt.Sprintf("images/class %d/%d.%s", i%3, i, kind)
		label := fmt.Sprintf("class %d", i%3)
		if i == 6 {
			name, label = "top."+kind, ""
		}
		c.Files, c.Names = append(c.Files, data), append(c.Names, name)
		row := fmt.Sprintf(`{"path":%q,"label":%q,"bytes":%q,"width":%d,"height":%d}`, name, label, base64.StdEncoding.EncodeToString(data), 3+i, 50+7*i)
		rows = append(rows, strings.Replace(row, `"label":"",`, "", 1))
	}
	want, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(columns, nil), strings.NewReader("["+strings.Join(rows, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	c.Format, c.Want = Format(), []arrow.RecordBatch{want}
	c.Damage, c.Cuttable = picture(t, "jpg", 9, 9), true
	formattest.Run(t, c)

	c.Damage = nil
	c.Options.Columns = []string{"height", "path"}
	chosen := arrow.NewSchema([]arrow.Field{columns[4], columns[0]}, nil)
	c.Want = []arrow.RecordBatch{array.NewRecordBatch(chosen, []arrow.Array{want.Column(4), want.Column(0)}, want.NumRows())}
	formattest.Run(t, c)
}

func TestSizeIsThatOfTheHeader(t *testing.T) {
	riff := func(chunk string, rest ...byte) []byte {
		b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk), rest...)
		return append(b, make([]byte, 32)...)
	}
	bmp := make([]byte, 64)
	copy(bmp, "BM")
	bmp[14], bmp[18], bmp[22], bmp[23], bmp[24], bmp[25] = 40, 7, 0xfb, 0xff, 0xff, 0xff
	exif := append([]byte("\xff\xd8\xff\xe1\x01\x00"), make([]byte, 254)...)
	for name, c := range map[string]struct {
		data []byte
		w, h int
	}{
		"jpeg":                 {picture(t, "jpg", 640, 480), 640, 480},
		"jpeg behind metadata": {append(exif, picture(t, "jpg", 64, 48)[2:]...), 64, 48},
		"png":                  {picture(t, "png", 1, 2), 1, 2},
		"gif":                  {picture(t, "gif", 30, 20), 30, 20},
		"bmp":                  {bmp, 7, 5},
		"webp":                 {riff("VP8 ", 0, 0, 0, 0, 0, 0, 0, 0x9d, 1, 0x2a, 0x10, 0x40, 0x20, 0), 16, 32},
		"webp l":               {riff("VP8L", 0, 0, 0, 0, 0x2f, 0x0f, 0xc0, 0x07, 0), 16, 32},
		"webp x":               {riff("VP8X", 0, 0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 31, 0, 0), 16, 32},
	} {
		w, h, err := Size(c.data)
		if err != nil || w != c.w || h != c.h {
			t.Errorf("%s: %d by %d, %v, want %d by %d", name, w, h, err, c.w, c.h)
		}
	}
	for _, data := range []string{"", "no image", "\xff\xd8\xff", "\xff\xd8\xff\xd9\x00\x00", "\x89PNG\r\n\x1a\n"} {
		if _, _, err := Size([]byte(data)); err == nil {
			t.Errorf("%q has a size", data)
		}
	}
}

func FuzzSize(f *testing.F) {
	for _, k := range []string{"jpg", "png", "gif"} {
		f.Add(picture(f, k, 5, 6))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, h, err := Size(data)
		cfg, kind, std := image.DecodeConfig(bytes.NewReader(data))
		if std == nil && kind != "jpeg" && cfg.Width > 0 && cfg.Height > 0 && (err != nil || w != cfg.Width || h != cfg.Height) {
			t.Errorf("%s: %d by %d, %v, want %d by %d", kind, w, h, err, cfg.Width, cfg.Height)
		}
	})
}

func TestBadImagesAreLeftOutWhereThatIsWanted(t *testing.T) {
	c := formattest.Case{
		Format: Format(),
		Files:  [][]byte{[]byte("no image"), picture(t, "png", 2, 3), nil},
		Names:  []string{"a/0.png", "a/1.png", "a/2.png"},
	}
	bad := 0
	c.Options = format.Options{Columns: []string{"width"}, Bad: func(err error) {
		if !errors.Is(err, format.ErrData) {
			t.Error(err)
		}
		bad++
	}}
	b := array.NewInt32Builder(memory.DefaultAllocator)
	b.Append(2)
	c.Want = []arrow.RecordBatch{array.NewRecordBatch(arrow.NewSchema(columns[3:4], nil), []arrow.Array{b.NewArray()}, 1)}
	formattest.Run(t, c)
	if bad == 0 {
		t.Error("nothing was told")
	}
}

func TestAListingOfOtherFilesIsNotOfImages(t *testing.T) {
	if got := gather([]store.Object{{URL: "a.PNG"}, {URL: "b.jpeg"}}); len(got) != 2 {
		t.Error(got)
	}
	if got := gather([]store.Object{{URL: "a.png"}, {URL: "labels.csv"}}); got != nil {
		t.Error(got)
	}
}
