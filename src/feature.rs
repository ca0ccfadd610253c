//! What a feature registers with the hub: one [`Feature`] value for each folder in `features/`.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use stoa_db::{Companion, Tx};

use crate::access::identity::{CredentialStore, CredentialStores};
use crate::config::Config;
use crate::error::HubError;
use crate::events::{Followers, Listener, Planner, Tap, Worker};
use crate::hub::guards::{TextGuard, TextGuards};
use crate::hub::{BoxFuture, Hub, Parts, StartError};
use crate::storage::keys::KeyRing;
use crate::surfaces::admin::Methods;
use crate::surfaces::http::ApiRouter;
use crate::surfaces::mcp::Offer;

/// All that a feature adds to the hub. A field that it leaves out means "does not do that":
///
/// ```ignore
/// Feature { routes: http::routes, planner: Some(planner::plan), ..Feature::new("goals") }
/// ```
#[derive(Clone)]
pub struct Feature {
    pub name: &'static str,

    // What surfaces offer.
    /// REST routes.
    pub routes: fn() -> ApiRouter,
    /// Routes that settings turn on. They are not described.
    pub optional_routes: Option<fn(&Config) -> Router<Hub>>,
    /// Methods of the admin socket.
    pub admin_methods: fn(&mut Methods),
    /// MCP tools, resources and prompts.
    pub mcp: fn(&mut Offer),
    /// The place of its tools in the list. Models read from the top, so what they need most often comes first.
    pub mcp_order: u8,
    /// Refuses what a caller must not write, before anything is done with it.
    pub text_guard: Option<TextGuard>,
    /// The kinds of credentials that it issues.
    pub credentials: &'static [CredentialStore],

    // What follows from events.
    pub planner: Option<Planner>,
    pub listeners: Vec<Arc<dyn Listener>>,
    pub workers: Vec<Arc<dyn Worker>>,
    pub taps: Vec<Arc<dyn Tap>>,
    /// What has to be done from time to time, by one hub at a time.
    pub chores: Vec<Chore>,

    // Its life, in this order.
    /// Refuses settings that it cannot work with, before anything is opened.
    pub check: Option<CheckSettings>,
    /// A second, rebuildable database file.
    pub companion: Option<Companion>,
    /// Repairs what a crash left behind, or refuses to start. Nothing is bound and nobody is served yet.
    pub prepare: Option<LifeStep>,
    /// Creates what must exist when the first caller comes.
    pub start: Option<LifeStep>,
    /// Runs until the hub stops.
    pub background: Option<fn(Hub) -> BoxFuture<'static, ()>>,
    /// Notifies connected clients before the hub stops serving.
    pub stop: Option<fn(&Hub) -> BoxFuture<'_, ()>>,
    /// Finishes after everything else has ended.
    pub close: Option<fn(&Hub) -> BoxFuture<'_, ()>>,

    // What operators need.
    /// Columns that hold sealed values, and the function that seals them again after a change of key.
    pub sealed: Option<Sealed>,
    /// Brings its gauges up to date when somebody reads the metrics.
    pub metrics: Option<UpdateGauges>,
}

pub type CheckSettings = fn(&Config) -> Result<(), StartError>;
pub type UpdateGauges = fn(&Hub, &mut Tx<'_>) -> Result<(), HubError>;
pub type LifeStep = fn(&Hub) -> BoxFuture<'_, Result<(), StartError>>;

/// Something to do from time to time.
#[derive(Clone, Copy)]
pub struct Chore {
    /// Names its row of work.
    pub name: &'static str,
    pub every: Duration,
    /// Processes one batch in a short transaction and returns the number of rows. It is called until that is 0.
    pub run: fn(&Hub, &mut Tx<'_>) -> Result<u64, HubError>,
}

/// Values that only open with the key of the hub.
#[derive(Clone, Copy)]
pub struct Sealed {
    /// Each as `table.column`.
    pub columns: &'static [&'static str],
    pub seal_again: fn(&mut Tx<'_>, &KeyRing) -> Result<(), HubError>,
}

impl Feature {
    /// A feature that does nothing yet.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            routes: ApiRouter::new,
            optional_routes: None,
            admin_methods: |_| {},
            mcp: |_| {},
            mcp_order: u8::MAX,
            text_guard: None,
            credentials: &[],
            planner: None,
            listeners: Vec::new(),
            workers: Vec::new(),
            taps: Vec::new(),
            chores: Vec::new(),
            check: None,
            companion: None,
            prepare: None,
            start: None,
            background: None,
            stop: None,
            close: None,
            sealed: None,
            metrics: None,
        }
    }
}

/// The features of a hub, in floor order: each knows only those before it.
#[derive(Clone)]
pub struct Features(pub Vec<Feature>);

static NO_FEATURES: Features = Features(Vec::new());

impl Features {
    pub(crate) fn of(hub: &Hub) -> &Self {
        hub.part().unwrap_or(&NO_FEATURES)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Feature> {
        self.0.iter()
    }

    /// Splits what is registered into the parts that events, access and housekeeping read.
    pub(crate) fn into_parts(self) -> Parts {
        let followers = Followers {
            planners: self.iter().filter_map(|feature| feature.planner).collect(),
            listeners: self.iter().flat_map(|feature| feature.listeners.clone()).collect(),
            workers: self.iter().flat_map(|feature| feature.workers.clone()).collect(),
            taps: self.iter().flat_map(|feature| feature.taps.clone()).collect(),
        };
        let guards = TextGuards(self.iter().filter_map(|feature| feature.text_guard).collect());
        let credentials = self.iter().flat_map(|feature| feature.credentials).copied().collect();
        Parts::default().with(followers).with(CredentialStores(credentials)).with(guards).with(self)
    }

    pub(crate) fn routes(&self, config: &Config) -> ApiRouter {
        self.iter().fold(ApiRouter::new(), |router, feature| {
            let router = router.merge((feature.routes)());
            match feature.optional_routes {
                Some(routes) => router.merge(routes(config).into()),
                None => router,
            }
        })
    }

    pub(crate) fn admin_methods(&self) -> Methods {
        let mut methods = Methods::default();
        self.iter().for_each(|feature| (feature.admin_methods)(&mut methods));
        methods
    }

    pub(crate) fn offer(&self) -> Offer {
        let mut features: Vec<&Feature> = self.iter().collect();
        features.sort_by_key(|feature| feature.mcp_order);
        let mut offer = Offer::default();
        features.into_iter().for_each(|feature| (feature.mcp)(&mut offer));
        offer
    }
}
