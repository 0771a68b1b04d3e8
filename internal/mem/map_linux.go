package mem

import "golang.org/x/sys/unix"

// mapFlags: the pages of a block are all used soon, and mapping them at once
// costs half of what a fault for each would.
const mapFlags = unix.MAP_ANON | unix.MAP_PRIVATE | unix.MAP_POPULATE
