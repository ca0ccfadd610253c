//! What is written soon, many at a time, and makes nobody wait.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::clock::{Clock, milliseconds};

type Flush = oneshot::Sender<()>;

/// A queue in memory whose other end writes batches. A crash loses what is in it.
pub struct Batches<T> {
    items: mpsc::Sender<T>,
    flushes: mpsc::Sender<Flush>,
    /// For the one who writes.
    taken_out: Mutex<Option<(mpsc::Receiver<T>, mpsc::Receiver<Flush>)>>,
    closing: CancellationToken,
}

impl<T> Batches<T> {
    pub fn new(capacity: usize) -> Self {
        let (items, items_out) = mpsc::channel(capacity);
        let (flushes, flushes_out) = mpsc::channel(16);
        let taken_out = Mutex::new(Some((items_out, flushes_out)));
        Self { items, flushes, taken_out, closing: CancellationToken::new() }
    }

    /// Adds an item. False when there is no room for it, or nobody to write it any more.
    pub fn offer(&self, item: T) -> bool {
        self.items.try_send(item).is_ok()
    }

    /// Waits until everything that is in the queue now has been written or given up.
    pub async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        if self.flushes.send(done).await.is_ok() {
            let _ = is_done.await;
        }
    }

    /// Takes nothing more. [`write_all`](Self::write_all) writes what there is, and ends.
    pub fn close(&self) {
        self.closing.cancel();
    }

    /// Writes batches of up to `limit` items until the queue is closed. None waits longer than `within`
    /// for others to come.
    pub async fn write_all<F>(&self, clock: &Clock, limit: usize, within: Duration, write: impl Fn(Vec<T>) -> F)
    where
        F: Future<Output = ()>,
    {
        let taken_out = self.taken_out.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((mut items, mut flushes)) = taken_out else { return };
        let mut batch = Vec::new();
        let mut due_at = None;
        loop {
            let room = limit - batch.len();
            tokio::select! {
                biased;
                () = self.closing.cancelled() => break,
                Some(done) = flushes.recv() => {
                    write_rest(&mut items, &mut batch, limit, &write).await;
                    let _ = done.send(());
                }
                () = wait_until(clock, due_at) => write(std::mem::take(&mut batch)).await,
                _ = items.recv_many(&mut batch, room) => {
                    if batch.len() >= limit {
                        write(std::mem::take(&mut batch)).await;
                    }
                }
            }
            due_at = match due_at {
                _ if batch.is_empty() => None,
                None => Some(clock.now_ms().saturating_add(milliseconds(within))),
                due_at => due_at,
            };
        }
        items.close();
        write_rest(&mut items, &mut batch, limit, &write).await;
    }
}

async fn write_rest<T, F: Future<Output = ()>>(
    items: &mut mpsc::Receiver<T>,
    batch: &mut Vec<T>,
    limit: usize,
    write: &impl Fn(Vec<T>) -> F,
) {
    loop {
        while batch.len() < limit
            && let Ok(item) = items.try_recv()
        {
            batch.push(item);
        }
        if batch.is_empty() {
            return;
        }
        write(std::mem::take(batch)).await;
    }
}

async fn wait_until(clock: &Clock, due_at: Option<i64>) {
    match due_at {
        Some(due_at) => clock.sleep_until(due_at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use stoa_model::Timestamp;

    use super::*;

    const WITHIN: Duration = Duration::from_millis(100);

    /// A queue for three whose batches arrive at the returned end.
    fn start(clock: &Clock) -> (Arc<Batches<u32>>, mpsc::UnboundedReceiver<Vec<u32>>) {
        let (written, batches) = mpsc::unbounded_channel();
        let queue = Arc::new(Batches::new(8));
        let (queue_in, clock) = (queue.clone(), clock.clone());
        tokio::spawn(async move {
            let write = |batch| {
                let _ = written.send(batch);
                async {}
            };
            queue_in.write_all(&clock, 3, WITHIN, write).await;
        });
        (queue, batches)
    }

    #[tokio::test]
    async fn a_full_batch_goes_at_once_and_the_rest_in_time() {
        let clock = Clock::manual(Timestamp::from_ms(1000));
        let (queue, mut batches) = start(&clock);
        for item in 0..4 {
            assert!(queue.offer(item));
        }
        assert_eq!(batches.recv().await, Some(vec![0, 1, 2]));
        // The flush stands behind the item in no order; what it waits for is written all the same.
        queue.flush().await;
        assert_eq!(batches.recv().await, Some(vec![3]));
        assert!(queue.offer(4));
        tokio::task::yield_now().await;
        clock.advance(WITHIN - Duration::from_millis(1));
        tokio::task::yield_now().await;
        assert!(batches.try_recv().is_err());
        clock.advance(Duration::from_millis(1));
        assert_eq!(batches.recv().await, Some(vec![4]));
    }

    #[tokio::test]
    async fn a_full_queue_takes_nothing_and_a_closed_one_is_written_to_its_end() {
        let clock = Clock::manual(Timestamp::from_ms(1000));
        let (queue, mut batches) = start(&clock);
        // On one thread nobody has begun to write yet.
        let taken: Vec<_> = (0..10).filter(|item| queue.offer(*item)).collect();
        assert_eq!(taken, (0..8).collect::<Vec<_>>());
        queue.close();
        let mut written = Vec::new();
        while let Some(batch) = batches.recv().await {
            assert!(batch.len() <= 3);
            written.extend(batch);
        }
        assert_eq!(written, taken);
        assert!(!queue.offer(11));
        queue.flush().await;
    }
}
