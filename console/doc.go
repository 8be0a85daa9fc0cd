// Package console shows what callwright makes of a text: the calls, each candidate marked in
// the text with what spoke for and against it, and the stream replayed piece by piece. It
// has the playground, a page that is served on the loopback interface.
//
//	h, err := console.NewHandler(console.Options{Token: token})
//	http.ListenAndServe("127.0.0.1:8791", h) // open http://127.0.0.1:8791/callwright/#token=…
//
// NOTE: the texts of models are hostile. The page shows them only as text, never as markup.
package console
