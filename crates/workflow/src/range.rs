//! Ranges of IP addresses, written as `192.168.1.0/24` or `::1/128`. Uses no network.

use ipnet::IpNet;

/// Returns true for an address, a `/` and a number of bits, if all further bits of the address are zero.
pub fn is_range(text: &str) -> bool {
    text.parse::<IpNet>().is_ok_and(|range| range.trunc() == range)
}

#[cfg(test)]
mod tests {
    use super::is_range;

    #[test]
    fn a_range_has_no_bits_beyond_its_length() {
        for (text, is_one) in [
            ("192.168.1.0/24", true),
            ("::1/128", true),
            ("0.0.0.0/0", true),
            ("192.168.1.1/24", false),
            ("192.168.1.0", false),
            ("192.168.1.0/33", false),
            ("localhost/32", false),
            ("10.0.0.0/ 8", false),
            ("", false),
        ] {
            assert_eq!(is_range(text), is_one, "{text}");
        }
    }
}
