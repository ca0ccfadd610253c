import io.modelcontextprotocol.client.McpClient;
import io.modelcontextprotocol.client.McpSyncClient;
import io.modelcontextprotocol.client.transport.HttpClientStreamableHttpTransport;
import io.modelcontextprotocol.client.transport.ServerParameters;
import io.modelcontextprotocol.client.transport.StdioClientTransport;
import io.modelcontextprotocol.json.McpJsonDefaults;
import io.modelcontextprotocol.spec.McpClientTransport;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.GetPromptRequest;
import io.modelcontextprotocol.spec.McpSchema.Implementation;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.TextContent;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * The MCP client of the official library in Java.
 *
 * <p>In each revision of the protocol an agent connects, reads the lists, calls tools and waits for a message, once over HTTP
 * and once through {@code stoa mcp}. A partner sends the message over HTTP. scripts/check-clients sets the environment:
 * STOA_MCP_URL, STOA_MCP_KEY of the agent, PARTNER_KEY and STOA_BINARY. Prints the revisions that were tried.
 */
public final class McpClients {

  /** The library does not know 2026-07-28 yet. */
  private static final List<String> REVISIONS = List.of("2025-03-26", "2025-06-18", "2025-11-25");

  /** The first revision in which the result of a tool can link to a resource. */
  private static final String FIRST_WITH_LINKS = "2025-06-18";

  /** Longer than the longest wait. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** An agent that is connected with one revision of the protocol. */
  private static final class Agent implements AutoCloseable {

    final McpSyncClient client;
    final String revision;
    final String name;

    Agent(McpClientTransport transport, String revision) throws IOException {
      this.client = McpClient.sync(transport)
          .clientInfo(Implementation.builder("stoa-interop", "1.0.0").build())
          .requestTimeout(PATIENCE)
          .build();
      this.revision = revision;
      var answer = client.initialize();
      checkEqual("the revision", answer.protocolVersion(), revision);
      checkEqual("the server", answer.serverInfo().name(), "stoa");
      checkEqual("the title of the server", answer.serverInfo().title(), "Stoa");
      this.name = (String) call("my_status", Map.of()).get("name");
    }

    CallToolResult callRaw(String tool, Map<String, Object> arguments) {
      return client.callTool(CallToolRequest.builder(tool).arguments(arguments).build());
    }

    /** Calls a tool, which must succeed, and returns its answer. */
    Map<?, ?> call(String tool, Map<String, Object> arguments) throws IOException {
      return answerOf(tool, callRaw(tool, arguments));
    }

    @Override
    public void close() {
      client.closeGracefully();
    }
  }

  private static Map<?, ?> answerOf(String tool, CallToolResult result) throws IOException {
    var text = textOf(result);
    check(!Boolean.TRUE.equals(result.isError()), tool + " failed: " + text);
    var answer = McpJsonDefaults.getMapper().readValue(text, Map.class);
    checkEqual("the text of " + tool, answer, result.structuredContent());
    return answer;
  }

  private static String textOf(CallToolResult result) {
    check(result.content().get(0) instanceof TextContent, "the result does not begin with a text: " + result);
    return ((TextContent) result.content().get(0)).text();
  }

  private static McpClientTransport overHttp(String key, String revision) {
    var address = URI.create(System.getenv("STOA_MCP_URL"));
    return HttpClientStreamableHttpTransport.builder(address.resolve("/").toString())
        .endpoint(address.getPath())
        .supportedProtocolVersions(List.of(revision))
        .addHttpRequestCustomizer((request, method, uri, body, context) -> request.header("Authorization", "Bearer " + key))
        .build();
  }

  /** Starts {@code stoa mcp} with this program's environment, which has the address and the key. */
  private static McpClientTransport throughBridge(String revision) {
    var command = ServerParameters.builder(System.getenv("STOA_BINARY")).args("mcp").env(System.getenv()).build();
    return new StdioClientTransport(command, McpJsonDefaults.getMapper()) {
      @Override
      public List<String> protocolVersions() {
        return List.of(revision);
      }
    };
  }

  /** The library follows the pages of each list. */
  private static void checkLists(Agent agent) {
    Set<String> found = new HashSet<>();
    for (var tool : agent.client.listTools().tools()) {
      check(tool.description() != null && tool.inputSchema() != null && tool.outputSchema() != null, "incomplete: " + tool);
      found.add(tool.name());
    }
    agent.client.listResources().resources().forEach(resource -> found.add(resource.uri()));
    agent.client.listResourceTemplates().resourceTemplates().forEach(template -> found.add(template.uriTemplate()));
    agent.client.listPrompts().prompts().forEach(prompt -> found.add(prompt.name()));
    for (var name : List.of("send_message", "wait_for_messages", "get_replies", "stoa://inbox", "stoa://messages/{id}", "daily-digest")) {
      check(found.contains(name), name + " is not listed");
    }
    checkEqual("the contents of the inbox",
        agent.client.readResource(ReadResourceRequest.builder("stoa://inbox").build()).contents().size(), 1);
    check(!agent.client.getPrompt(GetPromptRequest.builder("daily-digest").build()).messages().isEmpty(), "the prompt is empty");
  }

  private static void checkRefusals(Agent agent) {
    var result = agent.callRaw("send_message", Map.of("to", "nobody-there", "body", "Hello?"));
    check(Boolean.TRUE.equals(result.isError()) && textOf(result).contains("nobody-there"), "a message to nobody: " + result);
    checkEqual("the code", ((Map<?, ?>) result.meta().get("stoa/error")).get("code"), "unknown_recipient");
    try {
      agent.callRaw("send_mesage", Map.of());
    } catch (McpError error) {
      check(error.getMessage().contains("send_message"), "a misspelt tool was refused without the right name: " + error);
      return;
    }
    throw new AssertionError("a misspelt tool was called");
  }

  /** The agent waits for messages after those that it has, until the partner sends one with a file. */
  private static void checkWait(Agent agent, Agent partner, String body) throws Exception {
    var known = agent.call("wait_for_messages", Map.of("timeout_seconds", 0));
    Map<String, Object> after = Map.of("timeout_seconds", 50, "cursor", known.get("next_cursor"));
    var waiting = CompletableFuture.supplyAsync(() -> agent.callRaw("wait_for_messages", after));
    // So that the call is open when the message comes. Without the pause the result would be the same.
    Thread.sleep(300);

    var file = Base64.getEncoder().encodeToString(body.getBytes(StandardCharsets.UTF_8));
    var uploaded = partner.call("upload_attachment", Map.of("filename", "anchor.txt", "content_base64", file));
    var sent = partner.call("send_message",
        Map.of("to", agent.name, "body", body, "attachments", List.of(uploaded.get("sha256"))));
    var result = waiting.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    var items = (List<?>) answerOf("wait_for_messages", result).get("items");
    checkEqual("the number of messages", items.size(), 1);
    var message = (Map<?, ?>) items.get(0);
    checkEqual("the message", List.of(message.get("id"), message.get("from"), message.get("content")),
        List.of(sent.get("id"), partner.name, body));
    var files = (List<?>) message.get("attachments");
    checkEqual("the files", files.stream().map(item -> ((Map<?, ?>) item).get("sha256")).toList(), List.of(uploaded.get("sha256")));
    var links = agent.revision.compareTo(FIRST_WITH_LINKS) >= 0 ? 1 : 0;
    checkEqual("the number of links", result.content().size() - 1, links);

    var read = (Map<?, ?>) agent.call("get_replies", Map.of("message_id", sent.get("id"))).get("message");
    checkEqual("the text of the message", read.get("content"), body);
    checkEqual("the status", agent.call("mark_done", Map.of("message_id", sent.get("id"))).get("status"), "done");
  }

  private static void check(boolean isRight, String complaint) {
    if (!isRight) {
      throw new AssertionError(complaint);
    }
  }

  private static void checkEqual(String what, Object found, Object expected) {
    check(expected.equals(found), what + ": found " + found + ", expected " + expected);
  }

  private static void checkRound(McpClientTransport transport, String revision, String body) throws Exception {
    try (var agent = new Agent(transport, revision);
        var partner = new Agent(overHttp(System.getenv("PARTNER_KEY"), revision), revision)) {
      checkLists(agent);
      checkRefusals(agent);
      checkWait(agent, partner, body);
    }
  }

  public static void main(String[] arguments) {
    var where = "at the beginning";
    try {
      for (var revision : REVISIONS) {
        for (var way : List.of("HTTP", "stoa mcp")) {
          where = revision + " over " + way;
          var transport = way.equals("HTTP") ? overHttp(System.getenv("STOA_MCP_KEY"), revision) : throughBridge(revision);
          checkRound(transport, revision, "Weigh the anchor, in " + where + ": ⚓");
        }
      }
    } catch (Throwable error) {
      System.err.println("McpClients.java: " + where + ": " + error);
      error.printStackTrace();
      System.exit(1);
    }
    System.out.println(String.join(", ", REVISIONS));
    // Threads of the library would keep the program alive.
    System.exit(0);
  }
}
