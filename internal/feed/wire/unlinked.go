package wire

import "os"

// unlinkedFile is a file of size bytes without a name, in folder or, where
// that cannot be, in the folder for temporary files.
func unlinkedFile(folder string, size int64) (*os.File, error) {
	f, err := os.CreateTemp(folder, "weir-")
	if err != nil && folder != "" {
		f, err = os.CreateTemp("", "weir-")
	}
	if err != nil {
		return nil, err
	}
	if err = os.Remove(f.Name()); err == nil {
		err = reserve(f, size)
	}
	if err != nil {
		_ = f.Close() // the first error says more
		return nil, err
	}
	return f, nil
}
