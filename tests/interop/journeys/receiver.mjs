// A receiver of webhooks: it keeps the requests, and answers with the status and the body that a journey chooses.

import { createHmac } from "node:crypto";
import { createServer } from "node:http";

/** What a hub needs so that it calls receivers on this machine. */
export const LOCAL_RECEIVERS = { STOA_ALLOW_HTTP_WEBHOOKS: "1", STOA_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" };

export class Receiver {
  static async start() {
    const receiver = new Receiver();
    receiver.status = 200;
    receiver.answer = "heard";
    receiver.requests = [];
    receiver.server = createServer(async (request, response) => {
      const parts = [];
      for await (const part of request) parts.push(part);
      const raw = Buffer.concat(parts).toString();
      receiver.requests.push({ headers: request.headers, raw, body: JSON.parse(raw) });
      response.writeHead(receiver.status).end(receiver.answer);
    });
    await new Promise((resolve) => receiver.server.listen(0, "127.0.0.1", resolve));
    receiver.url = `http://127.0.0.1:${receiver.server.address().port}/stoa`;
    return receiver;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** The texts of the messages in its requests, in their order. */
  texts(from = 0) {
    return this.requests.slice(from).flatMap(({ body }) => body.data.body ?? []);
  }
}

/** How many of the signatures of a request are by a secret. */
export function signaturesBy(secret, { headers, raw }) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${raw}`;
  const wanted = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  return headers["webhook-signature"].split(" ").filter((one) => one === wanted).length;
}
