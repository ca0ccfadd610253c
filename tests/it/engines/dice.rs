//! Random choices that are the same for the same seed.

pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number of SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() >> 33).unwrap() % limit
    }

    /// True in so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, choices: &'a [&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }

    /// None if there is nothing to choose from.
    pub(crate) fn one_of<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        if choices.is_empty() { None } else { Some(&choices[self.below(choices.len())]) }
    }

    /// One of the latest, as these are what people work with.
    pub(crate) fn recent<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        const RECENT: usize = 30;
        let start = if self.chance(80) { choices.len().saturating_sub(RECENT) } else { 0 };
        self.one_of(&choices[start..])
    }
}
