from standardwebhooks import Webhook
Webhook(os.environ["SECRET"]).verify(raw_body, headers)
