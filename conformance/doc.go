// Package conformance holds the providers' own clients to what we write, whole and
// streamed, and us to what they write. It is a module of its own, so that the
// library needs none of them.
package conformance
