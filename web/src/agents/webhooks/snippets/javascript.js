import { Webhook } from "standardwebhooks";
new Webhook(process.env.SECRET).verify(rawBody, headers);
