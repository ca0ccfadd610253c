use serde::Deserialize;
use stoa_model::webhooks::{CreateWebhookRequest, DeliveryStatus, RetryDeadRequest, RotateSecretRequest};
use stoa_model::{DeliveryId, Timestamp, WebhookId};

use super::deliveries::{self, DeliveryQuery};
use super::service;
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WebhookParams {
    id: WebhookId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeliveryParams {
    id: DeliveryId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListParams {
    agent: Option<String>,
    limit: Option<i64>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeliveriesParams {
    webhook: Option<WebhookId>,
    agent: Option<String>,
    status: Option<DeliveryStatus>,
    limit: Option<i64>,
    cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RotateParams {
    id: WebhookId,
    keep_old: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetryParams {
    id: WebhookId,
    since: Option<Timestamp>,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("webhooks.list", |hub, actor, params: ListParams| async move {
        let list = ListQuery { limit: params.limit, cursor: params.cursor };
        service::list_webhooks(&hub, &actor, params.agent, list).await
    });
    methods.add("webhooks.create", |hub, actor, request: CreateWebhookRequest| async move {
        service::create_webhook(&hub, &actor, request).await
    });
    methods.add("webhooks.show", |hub, actor, params: WebhookParams| async move {
        service::get_webhook(&hub, &actor, params.id).await
    });
    methods.add("webhooks.delete", |hub, actor, params: WebhookParams| async move {
        service::delete_webhook(&hub, &actor, params.id).await
    });
    methods.add("webhooks.enable", |hub, actor, params: WebhookParams| async move {
        service::enable_webhook(&hub, &actor, params.id).await
    });
    methods.add("webhooks.disable", |hub, actor, params: WebhookParams| async move {
        service::disable_webhook(&hub, &actor, params.id).await
    });
    methods.add("webhooks.test", |hub, actor, params: WebhookParams| async move {
        service::test_webhook(&hub, &actor, params.id).await
    });
    methods.add("webhooks.rotate", |hub, actor, params: RotateParams| async move {
        let request = RotateSecretRequest { keep_old: params.keep_old };
        service::rotate_secret(&hub, &actor, params.id, request).await
    });
    methods.add("webhooks.deliveries", |hub, actor, params: DeliveriesParams| async move {
        let list = ListQuery { limit: params.limit, cursor: params.cursor };
        let query = DeliveryQuery { status: params.status, agent: params.agent, ..Default::default() };
        deliveries::list_deliveries(&hub, &actor, params.webhook, query, list).await
    });
    methods.add("webhooks.retry", |hub, actor, params: DeliveryParams| async move {
        deliveries::retry_delivery(&hub, &actor, params.id).await
    });
    methods.add("webhooks.retry_dead", |hub, actor, params: RetryParams| async move {
        deliveries::retry_dead(&hub, &actor, params.id, RetryDeadRequest { since: params.since }).await
    });
}
