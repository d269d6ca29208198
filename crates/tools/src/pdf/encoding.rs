//! The characters of codes and glyph names that PDFs use without a map to Unicode. Pure.

/// The characters of the codes from 128 in `WinAnsiEncoding`.
const WINDOWS: &str = "€•‚ƒ„…†‡ˆ‰Š‹Œ•Ž••‘’“”•–—˜™š›œ•žŸ\u{a0}¡¢£¤¥¦§¨©ª«¬\u{ad}®¯°±²³´µ¶·¸¹º»¼½¾¿\
ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
/// The characters of the codes from 128 in `MacRomanEncoding`.
const MACINTOSH: &str = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø\
¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ";

/// Glyphs by name, sorted. Letters are named by themselves and are not here.
#[rustfmt::skip]
const GLYPHS: [(&str, &str); 210] = [
    ("AE", "Æ"), ("Aacute", "Á"), ("Acircumflex", "Â"), ("Adieresis", "Ä"), ("Agrave", "À"),
    ("Aring", "Å"), ("Atilde", "Ã"), ("Cacute", "Ć"), ("Ccaron", "Č"), ("Ccedilla", "Ç"),
    ("Ccircumflex", "Ĉ"), ("Eacute", "É"), ("Ecaron", "Ě"), ("Ecircumflex", "Ê"), ("Edieresis", "Ë"),
    ("Egrave", "È"), ("Eth", "Ð"), ("Euro", "€"), ("Iacute", "Í"), ("Icircumflex", "Î"),
    ("Idieresis", "Ï"), ("Igrave", "Ì"), ("Itilde", "Ĩ"), ("Lslash", "Ł"), ("Nacute", "Ń"),
    ("Ncaron", "Ň"), ("Ncedilla", "Ņ"), ("Ntilde", "Ñ"), ("OE", "Œ"), ("Oacute", "Ó"),
    ("Ocircumflex", "Ô"), ("Odieresis", "Ö"), ("Ograve", "Ò"), ("Oslash", "Ø"), ("Otilde", "Õ"),
    ("Sacute", "Ś"), ("Scaron", "Š"), ("Scedilla", "Ş"), ("Scircumflex", "Ŝ"), ("Thorn", "Þ"),
    ("Uacute", "Ú"), ("Ucircumflex", "Û"), ("Udieresis", "Ü"), ("Ugrave", "Ù"), ("Utilde", "Ũ"),
    ("Yacute", "Ý"), ("Ycircumflex", "Ŷ"), ("Ydieresis", "Ÿ"), ("Zacute", "Ź"), ("Zcaron", "Ž"),
    ("aacute", "á"), ("acircumflex", "â"), ("acute", "´"), ("adieresis", "ä"), ("ae", "æ"),
    ("agrave", "à"), ("ampersand", "&"), ("aring", "å"), ("arrowleft", "←"), ("arrowright", "→"),
    ("asciicircum", "^"), ("asciitilde", "~"), ("asterisk", "*"), ("at", "@"), ("atilde", "ã"),
    ("backslash", "\\"), ("bar", "|"), ("braceleft", "{"), ("braceright", "}"), ("bracketleft", "["),
    ("bracketright", "]"), ("brokenbar", "¦"), ("bullet", "•"), ("cacute", "ć"), ("ccaron", "č"),
    ("ccedilla", "ç"), ("ccircumflex", "ĉ"), ("cedilla", "¸"), ("cent", "¢"), ("circumflex", "ˆ"),
    ("colon", ":"), ("comma", ","), ("copyright", "©"), ("currency", "¤"), ("dagger", "†"),
    ("daggerdbl", "‡"), ("degree", "°"), ("dieresis", "¨"), ("divide", "÷"), ("dollar", "$"),
    ("dotlessi", "ı"), ("eacute", "é"), ("ecaron", "ě"), ("ecircumflex", "ê"), ("edieresis", "ë"),
    ("egrave", "è"), ("eight", "8"), ("ellipsis", "…"), ("emdash", "—"), ("endash", "–"), ("equal", "="),
    ("eth", "ð"), ("exclam", "!"), ("exclamdown", "¡"), ("ff", "ff"), ("ffi", "ffi"), ("ffl", "ffl"),
    ("fi", "fi"), ("five", "5"), ("fl", "fl"), ("florin", "ƒ"), ("four", "4"), ("fraction", "⁄"),
    ("germandbls", "ß"), ("grave", "`"), ("greater", ">"), ("greaterequal", "≥"), ("guillemotleft", "«"),
    ("guillemotright", "»"), ("guilsinglleft", "‹"), ("guilsinglright", "›"), ("hyphen", "-"),
    ("iacute", "í"), ("icircumflex", "î"), ("idieresis", "ï"), ("igrave", "ì"), ("infinity", "∞"),
    ("itilde", "ĩ"), ("less", "<"), ("lessequal", "≤"), ("logicalnot", "¬"), ("lslash", "ł"),
    ("macron", "¯"), ("minus", "−"), ("mu", "µ"), ("multiply", "×"), ("nacute", "ń"), ("nbspace", " "),
    ("ncaron", "ň"), ("ncedilla", "ņ"), ("nine", "9"), ("notequal", "≠"), ("ntilde", "ñ"),
    ("numbersign", "#"), ("oacute", "ó"), ("ocircumflex", "ô"), ("odieresis", "ö"), ("oe", "œ"),
    ("ograve", "ò"), ("one", "1"), ("onehalf", "½"), ("onequarter", "¼"), ("onesuperior", "¹"),
    ("ordfeminine", "ª"), ("ordmasculine", "º"), ("oslash", "ø"), ("otilde", "õ"), ("paragraph", "¶"),
    ("parenleft", "("), ("parenright", ")"), ("percent", "%"), ("period", "."), ("periodcentered", "·"),
    ("perthousand", "‰"), ("plus", "+"), ("plusminus", "±"), ("question", "?"), ("questiondown", "¿"),
    ("quotedbl", "\""), ("quotedblbase", "„"), ("quotedblleft", "“"), ("quotedblright", "”"),
    ("quoteleft", "‘"), ("quoteright", "’"), ("quotesinglbase", "‚"), ("quotesingle", "'"),
    ("registered", "®"), ("sacute", "ś"), ("scaron", "š"), ("scedilla", "ş"), ("scircumflex", "ŝ"),
    ("section", "§"), ("semicolon", ";"), ("seven", "7"), ("sfthyphen", "-"), ("six", "6"), ("slash", "/"),
    ("space", ""), ("sterling", "£"), ("thorn", "þ"), ("three", "3"), ("threequarters", "¾"),
    ("threesuperior", "³"), ("tilde", "˜"), ("trademark", "™"), ("two", "2"), ("twosuperior", "²"),
    ("uacute", "ú"), ("ucircumflex", "û"), ("udieresis", "ü"), ("ugrave", "ù"), ("underscore", "_"),
    ("utilde", "ũ"), ("yacute", "ý"), ("ycircumflex", "ŷ"), ("ydieresis", "ÿ"), ("yen", "¥"),
    ("zacute", "ź"), ("zcaron", "ž"), ("zero", "0"),
];

/// Returns the characters of all codes of an encoding. Below 128 they are those of ASCII.
pub(super) fn base(name: &str) -> Vec<String> {
    let upper = if name == "MacRomanEncoding" { MACINTOSH } else { WINDOWS };
    let lower = (0..128_u8).map(|code| char::from(code).to_string());
    lower.chain(upper.chars().map(String::from)).collect()
}

/// Returns the character of a glyph by its name.
pub(super) fn glyph(name: &str) -> Option<String> {
    let name = name.split('.').next().unwrap_or_default();
    let mut chars = name.chars();
    if let (Some(letter), None) = (chars.next(), chars.next()) {
        return Some(letter.to_string());
    }
    if let Ok(at) = GLYPHS.binary_search_by_key(&name, |(known, _)| known) {
        return Some(GLYPHS[at].1.to_owned());
    }
    let digits = name.strip_prefix("uni").or_else(|| name.strip_prefix('u'))?;
    let is_code = (4..=6).contains(&digits.len());
    let code = is_code.then(|| u32::from_str_radix(digits, 16).ok()).flatten()?;
    char::from_u32(code).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_complete_and_sorted() {
        assert!(GLYPHS.is_sorted());
        for (name, code, expected) in
            [("WinAnsiEncoding", 0x80, "€"), ("", 0xe9, "é"), ("MacRomanEncoding", 0x8e, "é")]
        {
            let chars = base(name);
            assert_eq!((chars.len(), chars[code].as_str()), (256, expected), "{name}");
        }
    }

    #[test]
    fn glyph_names_are_letters_words_or_codes() {
        for (name, expected) in
            [("A", "A"), ("eacute", "é"), ("fi", "fi"), ("uni20AC", "€"), ("u1F600", "😀"), ("a.sc", "a")]
        {
            assert_eq!(glyph(name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!((glyph("g123"), glyph("uniXYZ0"), glyph("")), (None, None, None));
    }
}
