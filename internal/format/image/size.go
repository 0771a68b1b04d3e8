package image

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// kind tells what an image is by its first bytes.
func kind(head []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "JPEG", true
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "PNG", true
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "GIF", true
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "WebP", true
	case len(head) >= 26 && string(head[:2]) == "BM" && binary.LittleEndian.Uint32(head[14:]) >= 12 && binary.LittleEndian.Uint32(head[14:]) <= 124:
		return "BMP", true
	}
	return "", false
}

var errShort = errors.New("the file ends inside its header")

// Size finds width and height in an image's header.
func Size(b []byte) (width, height int, err error) {
	k, ok := kind(b)
	if !ok {
		return 0, 0, errors.New("not an image (JPEG, PNG, GIF, WebP, BMP)")
	}
	switch k {
	case "JPEG":
		width, height, err = jpegSize(b)
	case "PNG":
		if len(b) < 24 || string(b[12:16]) != "IHDR" {
			err = errShort
			break
		}
		width, height = int(binary.BigEndian.Uint32(b[16:])), int(binary.BigEndian.Uint32(b[20:]))
	case "GIF":
		if len(b) < 10 {
			err = errShort
			break
		}
		width, height = int(binary.LittleEndian.Uint16(b[6:])), int(binary.LittleEndian.Uint16(b[8:]))
	case "WebP":
		width, height, err = webpSize(b)
	case "BMP":
		width, height = bmpSize(b)
	}
	if err == nil && (width <= 0 || height <= 0 || width > 1<<30 || height > 1<<30) {
		err = fmt.Errorf("%d by %d pixels", width, height)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", k, err)
	}
	return width, height, nil
}

// jpegSize goes from segment to segment to the one that begins the frame.
func jpegSize(b []byte) (width, height int, err error) {
	for at := 2; ; {
		for at < len(b) && b[at] != 0xff {
			at++ // stray bytes between segments are passed over, as decoders do
		}
		for at < len(b) && b[at] == 0xff {
			at++
		}
		if at+3 > len(b) {
			return 0, 0, errShort
		}
		mark := b[at]
		at++
		if mark == 0x01 || mark >= 0xd0 && mark <= 0xd8 {
			continue // without a length
		}
		n := int(binary.BigEndian.Uint16(b[at:]))
		switch {
		case mark == 0xd9 || mark == 0xda:
			return 0, 0, errors.New("no frame before the data")
		case n < 2:
			return 0, 0, errors.New("a segment without a length")
		case mark >= 0xc0 && mark <= 0xcf && mark != 0xc4 && mark != 0xc8 && mark != 0xcc:
			if n < 7 || at+7 > len(b) {
				return 0, 0, errShort
			}
			return int(binary.BigEndian.Uint16(b[at+5:])), int(binary.BigEndian.Uint16(b[at+3:])), nil
		}
		at += n
	}
}

// webpSize knows the three kinds of first chunk.
func webpSize(b []byte) (width, height int, err error) {
	if len(b) < 30 {
		return 0, 0, errShort
	}
	u24 := func(p []byte) int { return int(p[0]) | int(p[1])<<8 | int(p[2])<<16 }
	switch string(b[12:16]) {
	case "VP8X":
		return u24(b[24:]) + 1, u24(b[27:]) + 1, nil
	case "VP8 ":
		if string(b[23:26]) != "\x9d\x01\x2a" {
			return 0, 0, errors.New("no key frame")
		}
		return int(binary.LittleEndian.Uint16(b[26:])) & 0x3fff, int(binary.LittleEndian.Uint16(b[28:])) & 0x3fff, nil
	case "VP8L":
		if b[20] != 0x2f {
			return 0, 0, errors.New("no lossless frame")
		}
		v := binary.LittleEndian.Uint32(b[21:])
		return int(v&0x3fff) + 1, int(v>>14&0x3fff) + 1, nil
	}
	return 0, 0, fmt.Errorf("a first chunk %q", b[12:16])
}

// bmpSize knows the old header, of 12 bytes, and all later ones, in which a
// height below 0 says that the rows stand from top to bottom.
func bmpSize(b []byte) (width, height int) {
	if binary.LittleEndian.Uint32(b[14:]) == 12 {
		return int(binary.LittleEndian.Uint16(b[18:])), int(binary.LittleEndian.Uint16(b[20:]))
	}
	w, h := int32(binary.LittleEndian.Uint32(b[18:])), int32(binary.LittleEndian.Uint32(b[22:]))
	if h < 0 {
		h = -h
	}
	return int(w), int(h)
}
