// The MCP client of the official library in Go.
//
// In each revision of the protocol an agent connects, reads the lists, calls tools and waits for a message, once over HTTP and
// once through `stoa mcp`. A partner sends the message over HTTP. scripts/check-clients sets the environment: STOA_MCP_URL,
// STOA_MCP_KEY of the agent, PARTNER_KEY and STOA_BINARY. Prints the revisions that were tried.
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

// firstWithLinks is the first revision in which the result of a tool can link to a resource.
const firstWithLinks = "2025-06-18"

// withKey sends a key with each request.
type withKey string

func (key withKey) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+string(key))
	return http.DefaultTransport.RoundTrip(request)
}

func overHTTP(key string) mcp.Transport {
	return &mcp.StreamableClientTransport{
		Endpoint:   os.Getenv("STOA_MCP_URL"),
		HTTPClient: &http.Client{Transport: withKey(key)},
	}
}

// throughBridge starts `stoa mcp`, which finds its address and its key in the environment.
func throughBridge() mcp.Transport {
	command := exec.Command(os.Getenv("STOA_BINARY"), "mcp")
	command.Stderr = os.Stderr
	return &mcp.CommandTransport{Command: command}
}

type message struct {
	ID          int64  `json:"id"`
	From        string `json:"from"`
	Content     string `json:"content"`
	Attachments []struct {
		SHA256 string `json:"sha256"`
	} `json:"attachments"`
}

type messages struct {
	Items      []message `json:"items"`
	NextCursor string    `json:"next_cursor"`
}

type agent struct {
	*mcp.ClientSession
	name string
}

func connect(ctx context.Context, transport mcp.Transport, revision string) (*agent, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "stoa-interop", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	answer := session.InitializeResult()
	if answer.ProtocolVersion != revision {
		return nil, fmt.Errorf("the revision is %s", answer.ProtocolVersion)
	}
	if answer.ServerInfo.Name != "stoa" || answer.ServerInfo.Title != "Stoa" {
		return nil, fmt.Errorf("the server is %+v", answer.ServerInfo)
	}
	connected := &agent{ClientSession: session}
	var status struct {
		Name string `json:"name"`
	}
	_, err = connected.call(ctx, "my_status", nil, &status)
	connected.name = status.Name
	return connected, err
}

// call calls a tool, which must succeed, and reads its answer.
func (caller *agent) call(ctx context.Context, tool string, arguments map[string]any, answer any) (*mcp.CallToolResult, error) {
	result, err := caller.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	text, err := textOf(result)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	if result.IsError {
		return nil, fmt.Errorf("%s: %s", tool, text)
	}
	var written any
	if err := json.Unmarshal([]byte(text), &written); err != nil || !reflect.DeepEqual(written, result.StructuredContent) {
		return nil, fmt.Errorf("%s: the text is not the structured content: %s", tool, text)
	}
	return result, json.Unmarshal([]byte(text), answer)
}

func textOf(result *mcp.CallToolResult) (string, error) {
	if len(result.Content) == 0 {
		return "", errors.New("the result has no content")
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return "", fmt.Errorf("the result begins with a %T", result.Content[0])
	}
	return text.Text, nil
}

func checkLists(ctx context.Context, worker *agent) error {
	found := map[string]bool{}
	// These follow the pages.
	for tool, err := range worker.Tools(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the tools: %w", err)
		}
		if tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil {
			return fmt.Errorf("the tool %s is incomplete", tool.Name)
		}
		found[tool.Name] = true
	}
	for resource, err := range worker.Resources(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the resources: %w", err)
		}
		found[resource.URI] = true
	}
	for template, err := range worker.ResourceTemplates(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the templates of resources: %w", err)
		}
		found[template.URITemplate] = true
	}
	for prompt, err := range worker.Prompts(ctx, nil) {
		if err != nil {
			return fmt.Errorf("listing the prompts: %w", err)
		}
		found[prompt.Name] = true
	}
	wanted := []string{"send_message", "wait_for_messages", "get_replies", "stoa://inbox", "stoa://messages/{id}", "daily-digest"}
	for _, name := range wanted {
		if !found[name] {
			return fmt.Errorf("%s is not listed", name)
		}
	}
	if read, err := worker.ReadResource(ctx, &mcp.ReadResourceParams{URI: "stoa://inbox"}); err != nil || len(read.Contents) != 1 {
		return fmt.Errorf("reading the inbox: %v %v", read, err)
	}
	if prompt, err := worker.GetPrompt(ctx, &mcp.GetPromptParams{Name: "daily-digest"}); err != nil || len(prompt.Messages) == 0 {
		return fmt.Errorf("reading a prompt: %v %v", prompt, err)
	}
	return nil
}

func checkRefusals(ctx context.Context, worker *agent) error {
	arguments := map[string]any{"to": "nobody-there", "body": "Hello?"}
	result, err := worker.CallTool(ctx, &mcp.CallToolParams{Name: "send_message", Arguments: arguments})
	if err != nil {
		return fmt.Errorf("a message to nobody: %w", err)
	}
	text, err := textOf(result)
	if err != nil || !result.IsError || !strings.Contains(text, "nobody-there") {
		return fmt.Errorf("a message to nobody was not refused in words: %s %v", text, err)
	}
	details, _ := result.Meta["stoa/error"].(map[string]any)
	if details["code"] != "unknown_recipient" {
		return fmt.Errorf("a message to nobody has the error %v", result.Meta)
	}
	_, err = worker.CallTool(ctx, &mcp.CallToolParams{Name: "send_mesage"})
	if err == nil || !strings.Contains(err.Error(), "send_message") {
		return fmt.Errorf("a misspelt tool was not refused with the right name: %v", err)
	}
	return nil
}

// checkWait has the worker wait for messages after those that it has, until the partner sends one with a file.
func checkWait(ctx context.Context, worker, partner *agent, body string) error {
	var known messages
	if _, err := worker.call(ctx, "wait_for_messages", map[string]any{"timeout_seconds": 0}, &known); err != nil {
		return err
	}
	type outcome struct {
		messages
		result *mcp.CallToolResult
		err    error
	}
	waiting := make(chan outcome, 1)
	go func() {
		var found outcome
		arguments := map[string]any{"timeout_seconds": 50, "cursor": known.NextCursor}
		found.result, found.err = worker.call(ctx, "wait_for_messages", arguments, &found.messages)
		waiting <- found
	}()
	// So that the call is open when the message comes. Without the pause the result would be the same.
	time.Sleep(300 * time.Millisecond)

	file := map[string]any{"filename": "anchor.txt", "content_base64": base64.StdEncoding.EncodeToString([]byte(body))}
	var uploaded struct {
		SHA256 string `json:"sha256"`
	}
	if _, err := partner.call(ctx, "upload_attachment", file, &uploaded); err != nil {
		return err
	}
	var sent message
	draft := map[string]any{"to": worker.name, "body": body, "attachments": []string{uploaded.SHA256}}
	if _, err := partner.call(ctx, "send_message", draft, &sent); err != nil {
		return err
	}
	found := <-waiting
	if found.err != nil {
		return found.err
	}
	if len(found.Items) != 1 || found.Items[0].ID != sent.ID || found.Items[0].From != partner.name || found.Items[0].Content != body {
		return fmt.Errorf("instead of %d, %+v came", sent.ID, found.Items)
	}
	if files := found.Items[0].Attachments; len(files) != 1 || files[0].SHA256 != uploaded.SHA256 {
		return fmt.Errorf("the message came with the files %+v", files)
	}
	links := 0
	if worker.InitializeResult().ProtocolVersion >= firstWithLinks {
		links = 1
	}
	if len(found.result.Content) != 1+links {
		return fmt.Errorf("the message came with %d links", len(found.result.Content)-1)
	}
	var read struct {
		Message message `json:"message"`
	}
	if _, err := worker.call(ctx, "get_replies", map[string]any{"message_id": sent.ID}, &read); err != nil {
		return err
	}
	if read.Message.Content != body {
		return fmt.Errorf("the message reads %q", read.Message.Content)
	}
	var settled struct {
		Status string `json:"status"`
	}
	_, err := worker.call(ctx, "mark_done", map[string]any{"message_id": sent.ID}, &settled)
	if err == nil && settled.Status != "done" {
		err = fmt.Errorf("the message is %s", settled.Status)
	}
	return err
}

func check(ctx context.Context, transport mcp.Transport, revision, body string) error {
	worker, err := connect(ctx, transport, revision)
	if err != nil {
		return err
	}
	partner, err := connect(ctx, overHTTP(os.Getenv("PARTNER_KEY")), revision)
	if err != nil {
		return fmt.Errorf("the partner: %w", err)
	}
	if err := checkLists(ctx, worker); err != nil {
		return err
	}
	if err := checkRefusals(ctx, worker); err != nil {
		return err
	}
	if err := checkWait(ctx, worker, partner, body); err != nil {
		return err
	}
	return errors.Join(worker.Close(), partner.Close())
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for _, revision := range revisions {
		ways := map[string]mcp.Transport{"HTTP": overHTTP(os.Getenv("STOA_MCP_KEY")), "stoa mcp": throughBridge()}
		for way, transport := range ways {
			body := fmt.Sprintf("Weigh the anchor, in %s over %s: ⚓", revision, way)
			if err := check(ctx, transport, revision, body); err != nil {
				fmt.Fprintf(os.Stderr, "main.go: %s over %s: %v\n", revision, way, err)
				os.Exit(1)
			}
		}
	}
	fmt.Println(strings.Join(revisions, ", "))
}
