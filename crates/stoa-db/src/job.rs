//! A command on its way through a queue to the thread that runs it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::{DbError, Tx};

/// Something a database thread runs and answers, whatever its types are.
pub(crate) trait Job: Send {
    /// Runs the closure and keeps its result. `false` means: undo it.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;

    /// Hands the result to the caller, or `overruled` instead of it.
    fn answer(self: Box<Self>, overruled: Option<DbError>);

    /// Whether nobody waits for the answer any more.
    fn is_abandoned(&self) -> bool;

    /// Whether it should have begun before now.
    fn is_late(&self) -> bool;

    /// Lives as long as somebody waits for the answer of a read: for those who ask while it runs.
    fn caller(&self) -> Weak<()>;

    /// How long it may run; none for what may take its time.
    fn limit(&self) -> Option<Duration>;
}

pub(crate) struct Closure<F, T, E> {
    pub(crate) closure: F,
    pub(crate) result: Option<Result<T, E>>,
    pub(crate) reply: oneshot::Sender<Result<T, E>>,
    /// Nobody for commands, which are done all the same.
    pub(crate) caller: Weak<()>,
    /// The moment after which it must not begin; none for what may take its time.
    pub(crate) begin_by: Option<Instant>,
    /// How long it may run.
    pub(crate) limit: Option<Duration>,
}

impl<F, T, E> Job for Closure<F, T, E>
where
    F: Fn(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<DbError> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        // A half-done command is rolled back, and the closure only borrows the Tx, so nothing
        // broken is seen by anybody after a panic.
        let outcome = catch_unwind(AssertUnwindSafe(|| (self.closure)(tx)));
        let result = outcome.unwrap_or_else(|_| Err(DbError::Panicked.into()));
        let result = match (result, tx.failure()) {
            // Ignoring a failed statement does not make it good: PostgreSQL has rolled back.
            (Ok(_), Some(failure)) => Err(failure.clone().into()),
            // Its statements were cut off, or refused.
            (Err(_), Some(_)) if tx.is_over() => Err(DbError::Late.into()),
            (result, _) => result,
        };
        let keep = result.is_ok();
        self.result = Some(result);
        keep
    }

    fn answer(self: Box<Self>, overruled: Option<DbError>) {
        let result = match (overruled, self.result) {
            (Some(error), _) => Err(error.into()),
            (None, Some(result)) => result,
            (None, None) => Err(DbError::Closed.into()),
        };
        // The caller may have gone away; what it asked for is done all the same.
        let _ = self.reply.send(result);
    }

    fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    #[expect(clippy::disallowed_methods, reason = "a deadline is in real time")]
    fn is_late(&self) -> bool {
        self.begin_by.is_some_and(|begin_by| Instant::now() > begin_by)
    }

    fn caller(&self) -> Weak<()> {
        self.caller.clone()
    }

    fn limit(&self) -> Option<Duration> {
        self.limit
    }
}
