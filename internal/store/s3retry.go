package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"syscall"
	"time"
)

// errIdle ends a request that brought nothing for Options.IdleTimeout.
var errIdle = errors.New("no data")

// fault is a response that cannot be right, such as a short one. It is asked
// for again.
type fault string

func (f fault) Error() string { return string(f) }

// watchdog ends a request that stays silent.
type watchdog struct {
	timer *time.Timer
	idle  time.Duration
}

func (w watchdog) pat() { w.timer.Reset(w.idle) }

// allow is pat for a request that may take the server longer to answer.
func (w watchdog) allow(times time.Duration) { w.timer.Reset(times * w.idle) }

// try runs one request, under a watchdog, when its turn comes.
func (s *s3Store) try(ctx context.Context, request func(context.Context, watchdog) error) error {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-s.slots }()
	reqCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dog := watchdog{idle: s.opts.IdleTimeout}
	dog.timer = time.AfterFunc(dog.idle, func() { cancel(errIdle) })
	defer dog.timer.Stop()
	s.opts.Stats.Requests.Add(1)
	err := request(reqCtx, dog)
	if err != nil && errors.Is(context.Cause(reqCtx), errIdle) {
		return fmt.Errorf("%w for %v", errIdle, dog.idle)
	}
	return err
}

// persist runs request until it succeeds, fails for good, or has failed
// MaxRetries times in a row without progress. Request may be called again
// after it failed, and says whether it got further than before.
func (s *s3Store) persist(ctx context.Context, place func() string, request func(context.Context, watchdog) (bool, error)) error {
	for failures := 0; ; {
		progress := false
		err := s.try(ctx, func(ctx context.Context, dog watchdog) (err error) {
			progress, err = request(ctx, dog)
			return err
		})
		switch {
		case err == nil:
			s.reached.Store(true)
			return nil
		case ctx.Err() != nil:
			return stopped(place(), ctx)
		}
		if final := s.final(place, err); final != nil {
			return final
		}
		if progress {
			failures = 0
		}
		most := s.opts.MaxRetries
		if nobody(err) && !s.reached.Load() {
			most = min(most, 3)
		}
		if failures++; failures > most {
			text := fmt.Sprintf("gave up after %d tries: %s", failures, plainText(err))
			return &placed{place: place(), text: text, kind: ErrStore, cause: err}
		}
		s.opts.Stats.Retries.Add(1)
		if !pause(ctx, s.backoff(failures)) {
			return stopped(place(), ctx)
		}
	}
}

// nobody says that no server was found. One that has answered before may come
// back; one that has not is most likely a wrong address.
func nobody(err error) bool {
	var dns *net.DNSError
	return errors.Is(err, syscall.ECONNREFUSED) || errors.As(err, &dns)
}

// backoff is a random time, so that readers that failed together do not come
// back together.
func (s *s3Store) backoff(failures int) time.Duration {
	most := s.opts.BackoffMax
	if shift := failures - 1; shift < 20 {
		most = min(most, s.opts.BackoffBase<<shift)
	}
	return rand.N(most + 1)
}

// pause waits; false when the caller gave up.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
