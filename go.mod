module github.com/weir-data/weir

go 1.26.0

require (
	github.com/apache/arrow-go/v18 v18.8.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/andybalholm/brotli v1.2.7 // indirect
	github.com/goccy/go-json v0.10.6 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/exp v0.0.0-20260112195511-716be5621a96 // indirect
)
