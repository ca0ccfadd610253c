// A way into the hub for programs that cannot log in: passes on all that it gets as it is, and adds a key.

import { createServer, request } from "node:http";

/** Listens on loopback, in front of the hub at `url`. Returns its own address, and what ends it. */
export async function startProxy(url, key) {
  const hub = new URL(url);
  const server = createServer((incoming, outgoing) => {
    // Host and Origin stay those of the caller, whom the hub has to judge by them; raw, as names may come twice.
    const headers = [...incoming.rawHeaders, "Authorization", `Bearer ${key}`];
    const options = { host: hub.hostname, port: hub.port, method: incoming.method, path: incoming.url, headers, setHost: false };
    const passed = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    passed.on("error", () => outgoing.destroy());
    // Whoever hangs up here has hung up there.
    outgoing.on("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  await new Promise((resolve, reject) => server.on("error", reject).listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}
