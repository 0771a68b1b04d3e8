// Package wire carries batches from a loader's child process to the process
// that started it: bulk data in shared memory, everything else in small frames
// on a Unix socket.
//
// The parent (python/weir/_transport.py) makes a socketpair and starts the
// child with one end of it. The child calls Serve, which reads the start
// frame; it makes an Arena, announces it with Hello, and then answers each
// Begin with a run of batches. A batch lies in a Slot of the arena. It belongs
// to the child until it is sent, to the parent until the parent releases it,
// and to the child again.
//
// # Frames
//
// The socket is a byte stream of frames, integers little endian:
//
//	u32 size of what follows | u8 kind | payload
//
// Parent to child:
//
//	'S' start   u32 version | JSON configuration; once, first
//	'G' begin   u32 run | u32 ahead | u64 epoch | u64 position
//	'A' ack     u64 taken | u64 id of a released batch …
//	'Q' ask     nothing; a report frame answers it
//
// Child to parent:
//
//	'H' hello   u32 version | u64 size of the arena | JSON description; once;
//	            the arena's descriptor travels with its first byte
//	'L' layout  u32 id | u8 kind | text: gives a meaning to id, which it keeps
//	            until the next layout frame with that id
//	'B' batch   u32 run | u64 id | u64 offset | u64 length | u64 rows |
//	            u32 layout | u64 epoch | u64 position | JSON extra, may be
//	            empty: the extra of the batch before it in the run
//	'E' end     u32 run | u64 epoch | u64 position | JSON extra, may be empty
//	'F' full    u32 run | u64 freed | u64 batches | u64 bytes | u64 need
//	'X' error   u8 n | n bytes of kind | text; nothing follows
//	'M' message u8 level, as Python's logging counts | text
//	'R' report  JSON
//
// A layout of kind 't' is JSON: an array of {name, part,
// dtype, shape, offset}, tensors in C order at a byte offset from the batch's
// first byte. One of kind
// 's' is an Arrow IPC schema message, and a batch of it an IPC record batch
// message with its body. One of kind 'm' is both: u32 size of the JSON | JSON |
// schema, and a batch of it a record with tensors behind it. Nothing is copied
// to be read.
//
// # Runs
//
// A begin starts a run at a place in the data and ends the run before it.
// Batches carry the number of their run, so that the parent knows those that
// were under way when it changed its mind; it releases them unseen. A run may
// go on with the next epoch after an end frame: whether it does is for the
// child to decide.
//
// # Who waits for whom
//
// The child works ahead: at most ahead batches that the parent has not taken,
// and as many as the arena holds. Ack frames say how many batches the parent
// has taken since hello, and which it has dropped. The parent sends one every
// few batches only, at the latest when half of ahead is not acknowledged:
// hence it may wait for a frame without having said anything.
//
// A child that finds no room says full: how many releases it has seen, and
// what the parent has of the arena. Frames keep their order, so a parent that
// reads it has taken all batches, and if it has sent no release that the child
// had not seen, it waits for itself. It then sends the releases it has
// gathered, or, if there are none, tells its user. Nobody ever waits for good.
//
// # The end
//
// The parent stops the child by shutting the socket down. The child also ends
// when its parent process is another one, which it looks at every second: a
// forked process may have kept the parent's end of the socket open. If the work
// does not end within half a second after that, the process does.
package wire

// Version is the number of the protocol; both ends must have the same.
const Version = 1
