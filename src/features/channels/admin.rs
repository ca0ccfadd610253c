use serde::Deserialize;
use stoa_model::channels::{CreateChannelRequest, UpdateChannelRequest, UpdateChannelSettingsRequest};

use super::{members, service};
use crate::paging::ListQuery;
use crate::surfaces::admin::Methods;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NameParams {
    name: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CreateParams {
    owner: String,
    channel: CreateChannelRequest,
}

/// What it says about itself and how work is done in it, changed in one go by the operator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UpdateParams {
    name: String,
    #[serde(default)]
    changes: UpdateChannelRequest,
    #[serde(default)]
    settings: UpdateChannelSettingsRequest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MemberParams {
    name: String,
    member: String,
}

pub fn add_methods(methods: &mut Methods) {
    methods.add("channels.list", |hub, actor, list: ListQuery| async move {
        service::list_channels(&hub, &actor, list).await
    });
    methods.add("channels.show", |hub, actor, params: NameParams| async move {
        service::get_channel(&hub, &actor, params.name).await.map(|revised| revised.details)
    });
    methods.add("channels.create", |hub, actor, params: CreateParams| async move {
        let created = service::create_channel_for(&hub, &actor, Some(params.owner), params.channel).await;
        created.map(|revised| revised.details)
    });
    methods.add("channels.update", |hub, actor, params: UpdateParams| async move {
        let updated = service::update_whole(&hub, &actor, params.name, None, params.changes, params.settings).await;
        updated.map(|revised| revised.details)
    });
    methods.add("channels.delete", |hub, actor, params: NameParams| async move {
        service::delete_channel(&hub, &actor, params.name).await
    });
    methods.add("channels.add_member", |hub, actor, params: MemberParams| async move {
        members::add_member(&hub, &actor, params.name, params.member).await.map(|revised| revised.details)
    });
    methods.add("channels.remove_member", |hub, actor, params: MemberParams| async move {
        members::remove_member(&hub, &actor, params.name, params.member).await
    });
}
