//! Random numbers.

/// Numbers that need not be good, only cheap and well spread.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        (self.roll() >> 16) % limit.max(1)
    }

    /// A place below `count`, the first ones most often: that of rank n with a probability of about 1/n.
    pub(super) fn rank(&mut self, count: usize) -> usize {
        let even = self.below(1 << 32) as f64 / (1u64 << 32) as f64;
        let rank = (count as f64 + 1.0).powf(even) as usize;
        rank.clamp(1, count.max(1)) - 1
    }
}
