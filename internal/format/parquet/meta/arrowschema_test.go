package meta

import (
	"encoding/base64"
	"strings"
	"testing"
)

// arrowRemark is the schema, as pyarrow leaves it, of plain: int64, zone:
// timestamp[us, Europe/Rome], utc: timestamp[us, UTC], naive: timestamp[us],
// took: duration[ms], s: struct<took: duration[s], when: timestamp[ns,
// +02:00]>, l: list<timestamp[ms, Asia/Tokyo]>, m: map<string, duration[ns]>.
const arrowRemark = "" +
	"/////ygDAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAMAAAACAAIAAAABAAIAAAABAAAAAgAAAC8AgAAYAIAACgCAAD0AQAAxAEA" +
	"ACwBAADAAAAABAAAAHT9//8AAAERFAAAABgAAAAEAAAAAQAAABAAAAABAAAAbQAAAEz+//+k////AAAADRgAAAAgAAAABAAAAAIA" +
	"AABUAAAAFAAAAAcAAABlbnRyaWVzAHz+///M/f//AAABEhAAAAAYAAAABAAAAAAAAAAFAAAAdmFsdWUAAAB6/v//AAADABAAFAAI" +
	"AAAABwAMAAAAEAAQAAAAAAAABRAAAAAUAAAABAAAAAAAAAADAAAAa2V5ANz+//8s/v//AAABDBQAAAAYAAAABAAAAAEAAAAQAAAA" +
	"AQAAAGwAAAAE////VP7//wAAAQoQAAAAGAAAAAQAAAAAAAAABAAAAGl0ZW0AAAAAnP7//wAAAQAEAAAACgAAAEFzaWEvVG9reW8A" +
	"AJT+//8AAAENGAAAABwAAAAEAAAAAgAAAFAAAAAQAAAAAQAAAHMAAABw////wP7//wAAAQoQAAAAGAAAAAQAAAAAAAAABAAAAHdo" +
	"ZW4AAAAACP///wAAAwAEAAAABgAAACswMjowMAAA/P7//wAAARIQAAAAGAAAAAQAAAAAAAAABAAAAHRvb2sAAAAAqv///wAAAAAo" +
	"////AAABEhAAAAAcAAAABAAAAAAAAAAEAAAAdG9vawAAAAAEAAQABAAAAFT///8AAAEKEAAAABwAAAAEAAAAAAAAAAUAAABuYWl2" +
	"ZQAGAAgABgAGAAAAAAACAIT///8AAAEKEAAAABQAAAAEAAAAAAAAAAMAAAB1dGMAyP///wAAAgAEAAAAAwAAAFVUQwC4////AAAB" +
	"ChAAAAAgAAAABAAAAAAAAAAEAAAAem9uZQAAAAAIAAwABgAIAAgAAAAAAAIABAAAAAsAAABFdXJvcGUvUm9tZQAQABQACAAGAAcA" +
	"DAAAABAAEAAAAAAAAQIQAAAAIAAAAAQAAAAAAAAABQAAAHBsYWluAAAACAAMAAgABwAIAAAAAAAAAUAAAAAAAAAA"

// zoneFile has the columns of arrowRemark.
func zoneFile(remark string) []byte {
	ts := func(name string, unit int16, utc bool) *thrift {
		return leaf(name, Int64).sub(10, new(thrift).sub(8, new(thrift).bool(1, utc).sub(2, new(thrift).sub(unit, new(thrift)))))
	}
	repeatedGroup := func(children int64) *thrift { return new(thrift).int(3, repeated).text(4, "list").int(5, children) }
	return file(new(thrift).structs(2, group("root", 8),
		leaf("plain", Int64), ts("zone", 2, true), ts("utc", 2, true), ts("naive", 2, false), leaf("took", Int64),
		group("s", 2), leaf("took", Int64), ts("when", 3, true),
		group("l", 1).int(6, 3), repeatedGroup(1), ts("item", 1, true),
		group("m", 1).int(6, 1), repeatedGroup(2), new(thrift).int(1, 6).text(4, "key").int(6, 0), leaf("value", Int64),
	).structs(4).structs(5,
		new(thrift).text(1, "other remark").text(2, "x"),
		new(thrift).text(1, arrowKey).text(2, remark),
	).done())
}

// leafTypes are the types of all leaves; it checks that the Arrow schema has
// them, too.
func leafTypes(t *testing.T, data []byte) string {
	f, err := open(t, data)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, l := range f.Schema.Leaves {
		typ := l.Node.Field.Type.String()
		out = append(out, typ)
		if top := f.Schema.Arrow.Field(l.Column).Type.String(); !strings.Contains(top, typ) {
			t.Errorf("%s is %s, in the schema %s", l.Path, typ, top)
		}
	}
	return strings.Join(out, "; ")
}

func TestArrowSchemaGivesZonesAndDurations(t *testing.T) {
	const want = "int64; timestamp[us, tz=Europe/Rome]; timestamp[us, tz=UTC]; timestamp[us]; duration[ms]; " +
		"duration[s]; timestamp[ns, tz=+02:00]; timestamp[ms, tz=Asia/Tokyo]; utf8; duration[ns]"
	if got := leafTypes(t, zoneFile(arrowRemark)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// The same without the continuation mark, as before Arrow 0.15.
	raw, err := base64.StdEncoding.DecodeString(arrowRemark)
	if err != nil {
		t.Fatal(err)
	}
	if got := leafTypes(t, zoneFile(base64.StdEncoding.EncodeToString(raw[4:]))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUselessArrowSchemaIsIgnored(t *testing.T) {
	const want = "int64; timestamp[us, tz=UTC]; timestamp[us, tz=UTC]; timestamp[us]; int64; " +
		"int64; timestamp[ns, tz=UTC]; timestamp[ms, tz=UTC]; utf8; int64"
	for name, remark := range map[string]string{
		"empty": "", "not base64": strings.Repeat("!", 100), "zeros": strings.Repeat("A", 400),
		"ones": strings.Repeat("/", 400), "too long": strings.Repeat(arrowRemark, 1+maxArrow/len(arrowRemark)),
	} {
		if got := leafTypes(t, zoneFile(remark)); got != want {
			t.Errorf("%s: got  %s\nwant %s", name, got, want)
		}
	}
}

// TestDamagedArrowSchemaIsHarmless changes every byte.
func TestDamagedArrowSchemaIsHarmless(t *testing.T) {
	raw, err := base64.StdEncoding.DecodeString(arrowRemark)
	if err != nil {
		t.Fatal(err)
	}
	f, err := open(t, zoneFile(arrowRemark))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		f.Schema.restore(raw[:i])
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff} {
			was := raw[i]
			raw[i] = v
			f.Schema.restore(raw)
			raw[i] = was
		}
	}
}
