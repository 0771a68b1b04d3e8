package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const s3Scheme = "s3://"

// s3Store is the store of one S3 service. Its client is made when it is first
// needed.
type s3Store struct {
	opts  Options
	slots chan struct{} // one for each request that may run

	reached atomic.Bool // a server has answered

	mu        sync.Mutex
	client    *s3.Client
	transport *http.Transport
	region    string
}

// connect returns the client. A failure is not remembered: the next call
// tries again.
func (s *s3Store) connect(ctx context.Context) (*s3.Client, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client, nil
	}
	cfg, err := s.loadConfig(ctx)
	if err != nil {
		return nil, err
	}
	pathStyle, forced, err := envBool("WEIR_S3_PATH_STYLE")
	if err != nil {
		return nil, err
	}
	// The SDK has put the certificates of AWS_CA_BUNDLE into its client's
	// transport; taking the transport out makes its connections ours to close.
	s.transport = cfg.HTTPClient.(*awshttp.BuildableClient).GetTransport()
	s.region = cfg.Region
	s.client = s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: s.transport, CheckRedirect: noRedirect}
		o.Retryer = aws.NopRetryer{}
		o.RetryMaxAttempts = 1
		// What is sent is covered by the signature's digest of the body, which
		// every service checks; checksum headers are not known to all.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
		o.DisableLogOutputChecksumValidationSkipped = true
		if s.opts.Endpoint != "" {
			o.BaseEndpoint = aws.String(s.opts.Endpoint)
		}
		o.UsePathStyle = s.opts.PathStyle || o.BaseEndpoint != nil
		if forced {
			o.UsePathStyle = pathStyle
		}
	})
	return s.client, nil
}

// loadConfig reads the environment and the AWS files, and sees to it that
// there are credentials.
func (s *s3Store) loadConfig(ctx context.Context) (aws.Config, error) {
	anonymous, forced, err := envBool("WEIR_S3_ANONYMOUS")
	if err != nil {
		return aws.Config{}, err
	}
	anonymous = anonymous || s.opts.Anonymous && !forced
	opts := []func(*config.LoadOptions) error{config.WithHTTPClient(newHTTPClient())}
	if anonymous {
		opts = append(opts, config.WithCredentialsProvider(aws.AnonymousCredentials{}))
	}
	cfg, err := config.LoadDefaultConfig(ctx, opts...)
	if err != nil {
		return cfg, &placed{place: "AWS configuration", text: plainText(err), kind: ErrStore, cause: err}
	}
	if cfg.Region == "" {
		cfg.Region = "us-east-1"
	}
	if anonymous {
		return cfg, nil
	}
	if _, err := cfg.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return cfg, stopped("AWS credentials", ctx)
		}
		return cfg, &placed{place: "AWS credentials",
			text: "none found; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or WEIR_S3_ANONYMOUS=true for a public bucket (" + plainText(err) + ")",
			kind: ErrStore, cause: err}
	}
	return cfg, nil
}

// newHTTPClient is the SDK's client kind, since config loading adds the
// certificates of AWS_CA_BUNDLE to no other. Time limits are the watchdog's.
func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().WithReadTimeout(0).WithTransportOptions(func(tr *http.Transport) {
		tr.MaxIdleConns = 0 // no limit but the next
		tr.MaxIdleConnsPerHost = 64
		// Reads of at least this many bytes go past the buffer, straight into
		// the caller's memory.
		tr.ReadBufferSize = 64 << 10
		tr.WriteBufferSize = 4 << 10
		tr.DisableCompression = true
		// One connection a request: an HTTP/2 connection's flow control would
		// be shared by all.
		tr.ForceAttemptHTTP2 = false
	})
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// envBool reads a switch of ours from the environment; set is false where it
// is absent.
func envBool(name string) (value, set bool, err error) {
	text := os.Getenv(name)
	if text == "" {
		return false, false, nil
	}
	value, err = strconv.ParseBool(text)
	if err != nil {
		return false, false, fmt.Errorf("%s=%s: neither true nor false", name, text)
	}
	return value, true, nil
}

func (s *s3Store) closeIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.transport != nil {
		s.transport.CloseIdleConnections()
	}
}

// splitS3 cuts s3://bucket/key.
func splitS3(url string) (bucket, key string, err error) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(url, s3Scheme), "/")
	if bucket == "" {
		return "", "", fmt.Errorf("%s: no bucket; write s3://bucket/key", url)
	}
	return bucket, key, nil
}

// Open contacts nobody: the listing has said all there is to know.
func (s *s3Store) Open(ctx context.Context, o Object) (Reader, error) {
	bucket, key, err := splitS3(o.URL)
	if err != nil {
		return nil, err
	}
	if key == "" {
		return nil, errors.New(o.URL + ": a bucket, not an object")
	}
	client, err := s.connect(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.URL, err)
	}
	return newS3Reader(s, client, bucket, key, o), nil
}
