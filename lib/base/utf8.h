// UTF-8 text from untrusted bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace hone {

// Replacement for invalid bytes: U+FFFD.
inline constexpr char kReplacementCharacter[] = "\xEF\xBF\xBD";

// Length of the UTF-8 sequence at the front of `text`; 0 if it is not valid (RFC 3629: no overlong forms, no
// surrogates).
size_t SequenceLength(std::string_view text);

// Whether a terminal or a browser obeys this sequence instead of showing it: control characters of ASCII except tab and
// newline, those of C1 (U+0080 to U+009F), marks that change the direction of the surrounding text (U+200E, U+200F,
// U+202A to U+202E, U+2066 to U+2069), and U+FFFE and U+FFFF, which are not XML characters.
bool IsControl(std::string_view sequence);

}  // namespace hone
