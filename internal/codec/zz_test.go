package codec
import ("testing";"os";"bytes";"io")
func BenchmarkXZReal(b *testing.B){ src,_:=os.ReadFile("/tmp/r.xz"); buf:=make([]byte,64<<10)
 n:=0
 for range 1 {r,_:=XZFile.NewReader(bytes.NewReader(src)); x,_:=io.Copy(io.Discard,r); n=int(x)}
 defer perCPU(b,n)()
 for b.Loop(){ r,err:=XZFile.NewReader(bytes.NewReader(src)); for err==nil {_,err=r.Read(buf)}; if err!=io.EOF{b.Fatal(err)}; r.Close()}}
