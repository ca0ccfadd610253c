//! What the floors above hand to the hub when it starts.

use std::any::Any;

/// One value of each type. The hub keeps them without knowing what they are, so that it depends on no floor above.
#[derive(Default)]
pub struct Parts(Vec<Box<dyn Any + Send + Sync>>);

impl Parts {
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(mut self, part: T) -> Self {
        self.0.push(Box::new(part));
        self
    }

    /// There are only a few, so looking at each is as quick as a map.
    pub(super) fn get<T: 'static>(&self) -> Option<&T> {
        self.0.iter().find_map(|part| part.downcast_ref())
    }
}
