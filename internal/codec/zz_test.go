package codec
import ("os";"testing";"os/exec";"bytes";"fmt";"strings")
func TestCLI(t *testing.T){
 data := bytes.Repeat(text(3<<20), 3)
 os.WriteFile("/tmp/zcli.bin", data, 0o644)
 for _, a := range []string{"-1","-3","-9","-19","--ultra -22","-3 --long=27","-3 --no-check","-5 --no-content-size","-4 --format=gzip"} {
  args := append(strings.Fields(a), "-c", "/tmp/zcli.bin")
  cmd := exec.Command("zstd", args...)
  src, err := cmd.Output()
  if err != nil { t.Log(a, err); continue }
  c := Zstd
  if strings.Contains(a,"gzip") { c = Gzip }
  var d Decoder
  dst := make([]byte, len(data))
  err = d.Decompress(c, dst, src)
  cost, e := c.StreamCost(src[:32], int64(len(data)))
  got, serr := readStream(c, bytes.NewReader(src), len(data), 40000)
  fmt.Println(a, len(src), err, bytes.Equal(dst,data), cost, e, serr, bytes.Equal(got,data))
 }
}
