package mem

// Default is the --memory of a user who gave none: four fifths of the
// container's limit, because the kernel charges the container for page tables,
// sockets and the pages of neighbours too; without a container a quarter of
// RAM, because the machine is somebody's. From says which limit it came from.
func Default() (n int64, from string) {
	limit, from := ContainerLimit()
	if from == fromRAM {
		return limit / 4, from
	}
	return limit / 5 * 4, from
}

const fromRAM = "RAM"

// unknownRAM is assumed where the system does not tell: small enough to be
// true of any machine weir runs on.
const unknownRAM = 1 << 30
