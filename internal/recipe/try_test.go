package recipe
import ("testing";"fmt")
func TestTry(t *testing.T){
 r,err:=Parse([]byte(`memory: 512MiB
label: target
read:
  paths: [s3://bucket/raw/]
  nulls: [NA, "null", ""]
split:
  into: {train: 80, val: 10, test: 10}
  by: [user_id]
stages:
  - impute: {age: median}
  - scale: {"f*": standard, price: robust}
  - encode: {country: onehot, device: hash:64}
    max_categories: 500
write:
  path: s3://bucket/prepared/
  dtype: float32
  row_group: 64MiB
`),"recipe.yaml")
 if err!=nil {t.Fatal(err)}
 fmt.Println(string(Print(r)))
 fmt.Println(len(JSONSchema()))
}
