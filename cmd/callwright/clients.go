package main

import (
	"fmt"
	"io"

	"github.com/callwright/callwright/config"
)

// printClients writes which setting points each client at the server.
func printClients(w io.Writer, s *config.Server) {
	base := "http://" + s.Listen
	if s.TLSCert != "" {
		base = "https://" + s.Listen
	}
	fmt.Fprintf(w, `Point a client here and change nothing else (docs/clients.md has more):
  OpenAI clients   OPENAI_BASE_URL=%[1]s/v1
  Claude Code      ANTHROPIC_BASE_URL=%[1]s
  Codex            base_url = "%[1]s/v1", wire_api = "responses", in a provider of ~/.codex/config.toml
  Gemini CLI       GOOGLE_GEMINI_BASE_URL=%[1]s
  Ollama clients   OLLAMA_HOST=%[1]s
`, base)
}
