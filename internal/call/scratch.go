package call

import "github.com/weir-data/weir/internal/spill"

// passing is scratch space that nobody will go on with after a crash: it does not
// wait until anything is durable.
type passing struct{ spill.System }

func (p passing) Open(path string, flag int) (spill.File, error) {
	f, err := p.System.Open(path, flag)
	if err != nil {
		return nil, err
	}
	return passingFile{f}, nil
}

func (passing) SyncNames(string) {}

type passingFile struct{ spill.File }

func (passingFile) Datasync() error { return nil }
