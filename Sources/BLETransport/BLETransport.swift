// The ways to a controller: kernel sockets, H4 streams and the loop that serves them.
