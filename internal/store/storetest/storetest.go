// Package storetest starts a real S3 service for tests: versitygw, pinned in
// tools/go.mod, over a temporary directory.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

const tool = "github.com/versity/versitygw/cmd/versitygw"

// Server is a running S3 service. It ends with the test that started it.
type Server struct {
	Endpoint  string // http://127.0.0.1:port
	AccessKey string
	SecretKey string
	Region    string
	client    *s3.Client
}

// S3 starts a service and points the test's environment at it, so that
// store.New(store.Options{}) finds it. Its first use on a machine builds the
// service, which takes minutes; a build that fails fails the test.
func S3(t testing.TB) *Server {
	t.Helper()
	bin, err := binary()
	if err != nil {
		t.Fatalf("storetest: %v", err)
	}
	s := &Server{AccessKey: "weir", SecretKey: "weir-test-secret", Region: "us-east-1"}
	if err := s.start(t, bin); err != nil {
		t.Fatalf("storetest: %v", err)
	}
	t.Setenv("AWS_ENDPOINT_URL", s.Endpoint)
	t.Setenv("AWS_ENDPOINT_URL_S3", "")
	t.Setenv("AWS_ACCESS_KEY_ID", s.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s.SecretKey)
	t.Setenv("AWS_SESSION_TOKEN", "")
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_REGION", s.Region)
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	t.Setenv("WEIR_S3_PATH_STYLE", "")
	t.Setenv("WEIR_S3_ANONYMOUS", "")
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	s.client = s3.New(s3.Options{
		BaseEndpoint: &s.Endpoint, Region: s.Region, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, ""),
		HTTPClient:  &http.Client{Transport: tr},
	})
	return s
}

// Bucket makes a bucket.
func (s *Server) Bucket(t testing.TB, name string) {
	t.Helper()
	if _, err := s.client.CreateBucket(context.Background(), &s3.CreateBucketInput{Bucket: &name}); err != nil {
		t.Fatalf("storetest: s3://%s: %v", name, err)
	}
}

// Put writes an object, in the place of any that was there.
func (s *Server) Put(t testing.TB, bucket, key string, data []byte) {
	t.Helper()
	_, err := s.client.PutObject(context.Background(), &s3.PutObjectInput{
		Bucket: &bucket, Key: &key, Body: bytes.NewReader(data), ContentLength: aws.Int64(int64(len(data))),
	})
	if err != nil {
		t.Fatalf("storetest: s3://%s/%s: %v", bucket, key, err)
	}
}

// Get reads an object; nil where there is none.
func (s *Server) Get(t testing.TB, bucket, key string) []byte {
	t.Helper()
	out, err := s.client.GetObject(context.Background(), &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if none := new(types.NoSuchKey); errors.As(err, &none) {
		return nil
	}
	if err != nil {
		t.Fatalf("storetest: s3://%s/%s: %v", bucket, key, err)
	}
	defer out.Body.Close()
	data, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatalf("storetest: s3://%s/%s: %v", bucket, key, err)
	}
	return data
}

// Keys are those of all objects of a bucket, and of all uploads that were begun
// and not ended, with "(upload) " before them.
func (s *Server) Keys(t testing.TB, bucket string) (keys []string) {
	t.Helper()
	list, err := s.client.ListObjectsV2(context.Background(), &s3.ListObjectsV2Input{Bucket: &bucket})
	if err != nil {
		t.Fatalf("storetest: s3://%s: %v", bucket, err)
	}
	for _, o := range list.Contents {
		keys = append(keys, aws.ToString(o.Key))
	}
	open, err := s.client.ListMultipartUploads(context.Background(), &s3.ListMultipartUploadsInput{Bucket: &bucket})
	if err != nil {
		t.Fatalf("storetest: s3://%s: %v", bucket, err)
	}
	for _, u := range open.Uploads {
		keys = append(keys, "(upload) "+aws.ToString(u.Key))
	}
	return keys
}

// binary builds the service, or finds it in Go's build cache.
var binary = sync.OnceValues(func() (string, error) {
	mod, err := goOutput(".", "env", "GOMOD")
	if err != nil {
		return "", err
	}
	root := filepath.Dir(mod)
	return goOutput(root, "tool", "-modfile="+filepath.Join(root, "tools", "go.mod"), "-n", tool)
})

func goOutput(dir string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	// One build for every kind of test run: these two would make another.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOEXPERIMENT=")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// start runs the service on a free port. Another process may take the port
// first, so it is tried again.
func (s *Server) start(t testing.TB, bin string) (err error) {
	for range 3 {
		if err = s.startOnce(t, bin); err == nil {
			return nil
		}
	}
	return err
}

func (s *Server) startOnce(t testing.TB, bin string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := ln.Addr().String()
	ln.Close()
	var log bytes.Buffer
	cmd := exec.Command(bin, "--port", addr, "--access", s.AccessKey, "--secret", s.SecretKey,
		"--region", s.Region, "--quiet", "--keep-alive", "--health", "/health", "posix", t.TempDir())
	cmd.Stdout, cmd.Stderr = &log, &log
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { cmd.Wait(); close(exited) }()
	stop := func() { cmd.Process.Kill(); <-exited }
	s.Endpoint = "http://" + addr
	if err := waitHealthy(s.Endpoint+"/health", exited); err != nil {
		stop()
		return fmt.Errorf("versitygw: %w\n%s", err, log.String())
	}
	t.Cleanup(stop)
	return nil
}

func waitHealthy(url string, exited <-chan struct{}) error {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); {
		resp, err := client.Get(url)
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-exited:
			return fmt.Errorf("ended at once")
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s: no answer", url)
}
