//! Following an event stream, as a browser would.

use std::time::Duration;

use serde_json::Value;

use super::client::Client;

/// Nothing takes this long; a test that waits longer waits for what will not come.
const PATIENCE: Duration = Duration::from_secs(20);

/// What stands between two empty lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) event: String,
    pub(crate) data: Value,
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) is_comment: bool,
}

pub(crate) struct EventStream {
    answer: reqwest::Response,
    buffer: Vec<u8>,
    /// The last id that was seen, which is what one goes on from.
    pub(crate) last_id: String,
}

impl Client {
    /// A stream from now on: what happens after this call comes.
    pub(crate) async fn events(&self) -> EventStream {
        EventStream::begin(self.get("/api/events").open().await).await
    }

    pub(crate) async fn events_after(&self, id: &str) -> EventStream {
        let answer = self.get("/api/events").header("last-event-id", id).open().await;
        EventStream { last_id: id.to_owned(), ..EventStream::new(answer) }
    }

    /// The same at a hub that may be away; none if it is.
    pub(crate) async fn try_events_after(&self, id: &str) -> Option<EventStream> {
        let answer = self.get("/api/events").header("last-event-id", id).try_open().await?;
        let is_refused = answer.status().as_u16() == 503;
        (!is_refused).then(|| EventStream { last_id: id.to_owned(), ..EventStream::new(answer) })
    }
}

impl EventStream {
    pub(crate) fn new(answer: reqwest::Response) -> Self {
        assert_eq!(answer.status().as_u16(), 200, "{answer:?}");
        for (name, value) in
            [("content-type", "text/event-stream"), ("cache-control", "no-store"), ("x-accel-buffering", "no")]
        {
            assert_eq!(answer.headers()[name], value);
        }
        Self { answer, buffer: Vec::new(), last_id: String::new() }
    }

    async fn begin(answer: reqwest::Response) -> Self {
        let mut stream = Self::new(answer);
        let greeting = stream.frame().await.expect("a stream begins with a greeting");
        assert_eq!((greeting.retry, greeting.event.as_str()), (Some(3000), ""), "{greeting:?}");
        assert!(greeting.id.is_some() && greeting.data.is_null(), "{greeting:?}");
        stream
    }

    /// The next frame, whatever it is; none at the end.
    pub(crate) async fn frame(&mut self) -> Option<Frame> {
        self.try_frame().await.unwrap_or_else(|error| panic!("the stream broke: {error:?}"))
    }

    /// The same of a hub that may go away at any moment.
    pub(crate) async fn try_frame(&mut self) -> Result<Option<Frame>, reqwest::Error> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|two| two == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..end + 2).collect();
                let frame = parse(str::from_utf8(&block).unwrap());
                self.last_id = frame.id.clone().unwrap_or_else(|| self.last_id.clone());
                return Ok(Some(frame));
            }
            let chunk = tokio::time::timeout(PATIENCE, self.answer.chunk()).await;
            match chunk.unwrap_or_else(|_| panic!("nothing came, and {:?} is half", self.buffer))? {
                Some(chunk) => self.buffer.extend_from_slice(&chunk),
                None => return Ok(None),
            }
        }
    }

    /// The next event that says something, but not who is online: that comes when it likes.
    pub(crate) async fn next(&mut self) -> Frame {
        loop {
            let frame = self.frame().await.expect("the stream has ended");
            if !frame.data.is_null() && frame.event != "presence" {
                return frame;
            }
        }
    }

    /// The next event, which must be of this kind.
    #[track_caller]
    pub(crate) fn expect(&mut self, event: &'static str) -> impl Future<Output = Value> {
        let place = std::panic::Location::caller();
        async move {
            let frame = self.next().await;
            assert_eq!(frame.event, event, "{frame:?} at {place}");
            frame.data
        }
    }

    /// The next event of this kind, whatever comes before it: on PostgreSQL a stream may begin a moment earlier.
    pub(crate) async fn until(&mut self, event: &str) -> Value {
        loop {
            let frame = self.next().await;
            if frame.event == event {
                return frame.data;
            }
        }
    }

    /// The next word of whether somebody is online.
    pub(crate) async fn presence_of(&mut self, name: &str) -> Value {
        loop {
            let frame = self.frame().await.expect("the stream has ended");
            if frame.event == "presence" && frame.data["name"] == name {
                assert_eq!(frame.id, None, "{frame:?}");
                return frame.data;
            }
        }
    }

    /// Reads to the end, which must come, and returns what was left.
    pub(crate) async fn rest(&mut self) -> Vec<Frame> {
        let mut rest = Vec::new();
        while let Some(frame) = self.frame().await {
            if !frame.data.is_null() && frame.event != "presence" {
                rest.push(frame);
            }
        }
        rest
    }
}

fn parse(block: &str) -> Frame {
    let mut frame = Frame::default();
    for line in block.lines().filter(|line| !line.is_empty()) {
        match line.split_once(": ").unwrap_or_else(|| panic!("{line:?} is not a field")) {
            ("event", name) => frame.event = name.to_owned(),
            ("data", data) => frame.data = serde_json::from_str(data).unwrap(),
            ("id", id) => frame.id = Some(id.to_owned()),
            ("retry", ms) => frame.retry = Some(ms.parse().unwrap()),
            ("", _) => frame.is_comment = true,
            other => panic!("{other:?} is not a field"),
        }
    }
    frame
}
