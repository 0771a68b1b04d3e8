package store

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// final is what the caller gets for an error that asking again cannot mend;
// nil for the others.
func (s *s3Store) final(place func() string, err error) error {
	if errors.Is(err, ErrChanged) || errors.Is(err, ErrNotFound) {
		return err
	}
	status, code := statusOf(err), codeOf(err)
	switch {
	case status == 0 && !isOurs(err):
		return nil // the network's fault, or a response that made no sense
	case status == 0:
		return &placed{place: place(), text: plainText(err), kind: ErrStore, cause: err}
	case status == http.StatusPreconditionFailed || status == http.StatusRequestedRangeNotSatisfiable:
		return changed(place(), plainText(err))
	case status < 300, status >= 500, status == http.StatusTooManyRequests, status == http.StatusRequestTimeout,
		code == "RequestTimeout", code == "RequestTimeTooSkewed", code == "SlowDown":
		return nil
	}
	if region := bucketRegion(err); region != "" && region != s.region {
		text := fmt.Sprintf("the bucket is in region %s, not %s; set AWS_REGION=%s", region, s.region, region)
		return &placed{place: place(), text: text, kind: ErrStore, cause: err}
	}
	switch status {
	case http.StatusNotFound:
		return &placed{place: place(), text: "not found" + detail(code, "NotFound", "NoSuchKey"), kind: ErrNotFound, cause: err}
	case http.StatusForbidden, http.StatusUnauthorized:
		return &placed{place: place(), text: "access denied" + detail(code, "Forbidden", "AccessDenied"), kind: ErrStore, cause: err}
	}
	return &placed{place: place(), text: plainText(err), kind: ErrStore, cause: err}
}

// detail is S3's code in brackets unless it says nothing more.
func detail(code string, plain ...string) string {
	for _, p := range plain {
		if code == p {
			return ""
		}
	}
	if code == "" {
		return ""
	}
	return " (" + code + ")"
}

// isOurs says that a request was never sent: a bad parameter, a credential
// that could not be renewed.
func isOurs(err error) bool {
	if errors.Is(err, errIdle) {
		return false
	}
	_, sent := errors.AsType[*smithyhttp.RequestSendError](err)
	_, op := errors.AsType[*smithy.OperationError](err)
	_, answered := errors.AsType[*smithy.DeserializationError](err)
	return op && !sent && !answered
}

func statusOf(err error) int {
	if re, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		return re.HTTPStatusCode()
	}
	return 0
}

func codeOf(err error) string {
	if ae, ok := errors.AsType[smithy.APIError](err); ok {
		return ae.ErrorCode()
	}
	return ""
}

// bucketRegion is where S3 says the bucket lies, if it says so.
func bucketRegion(err error) string {
	re, ok := errors.AsType[*awshttp.ResponseError](err)
	if !ok || re.Response == nil || re.Response.Response == nil {
		return ""
	}
	return re.Response.Header.Get("X-Amz-Bucket-Region")
}

// plainText is an error without the SDK's wrapping.
func plainText(err error) string {
	status := statusOf(err)
	if ae, ok := errors.AsType[smithy.APIError](err); ok {
		text := ae.ErrorCode()
		if status != 0 {
			text = fmt.Sprintf("%d %s", status, text)
		}
		// Where S3 said nothing, the SDK repeats the status or invents a word.
		if m := ae.ErrorMessage(); m != "" && m != "UnknownError" && m != http.StatusText(status) {
			text += ": " + m
		}
		return text
	}
	switch {
	case status >= 300:
		return fmt.Sprintf("%d %s", status, http.StatusText(status))
	case status != 0:
		return "the answer is damaged"
	}
	if ue, ok := errors.AsType[*url.Error](err); ok {
		return ue.Err.Error()
	}
	return err.Error()
}
