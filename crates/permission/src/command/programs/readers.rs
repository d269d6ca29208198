//! Programs that only read, in the forms in which they only read. An unlisted form is not proven.

use crate::Risk;

use super::options::{Options, ParsedArguments};
use crate::command::Word;
use crate::command::place::Place;
use crate::files::{Extent, Finding};
use crate::secrets::Recursion;

/// The meaning of a program's operands.
#[derive(Clone, Copy)]
enum Operands {
    /// No operands allowed.
    None,
    /// Text, which is only printed or compared.
    Text,
    /// Files whose metadata is read. Patterns are allowed.
    Names,
    /// Files whose content is read.
    Contents,
    /// One file whose content is read: a second operand would be written.
    OneFile,
    /// A pattern, unless an option has one, then files whose content is read.
    PatternThenContents,
}

struct Reader {
    names: &'static [&'static str],
    options: Options,
    operands: Operands,
}

const fn row(
    names: &'static [&'static str],
    short: &'static str,
    long: &'static str,
    operands: Operands,
) -> Reader {
    Reader { names, options: Options::new(short, long), operands }
}

/// `tests/versions.rs` lists the versions of the programs that the rows were checked with.
const READERS: &[Reader] = &[
    row(
        &["ls", "dir", "vdir"],
        "1aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZI:w:T:",
        "all almost-all author block-size= classify=? color=? directory dereference file-type format= \
        full-time group-directories-first help hide= human-readable ignore= ignore-backups indicator-style= \
        inode no-group numeric-uid-gid quoting-style= recursive reverse show-control-chars si size sort= \
        time= time-style= version width= zero",
        Operands::Names,
    ),
    row(&["pwd"], "LP", "", Operands::None),
    row(&["true", "false", ":"], "", "", Operands::Text),
    row(&["whoami", "logname", "arch", "hostid", "groups", "users"], "", "", Operands::None),
    row(&["tty"], "s", "", Operands::None),
    row(&["nproc"], "", "all", Operands::None),
    row(&["id"], "agGnruz", "group groups name real user zero", Operands::Text),
    row(&["uname"], "asnrvmpio", "all kernel-name kernel-release machine operating-system", Operands::None),
    row(&["hostname"], "fsidA", "fqdn short", Operands::None),
    row(&["uptime"], "ps", "pretty since", Operands::None),
    row(&["free"], "bkmghtw", "human mega giga", Operands::None),
    row(&["seq"], "f:s:w", "equal-width format= separator=", Operands::Text),
    row(&["sleep"], "", "", Operands::Text),
    row(&["basename"], "as:z", "multiple suffix= zero", Operands::Text),
    row(&["dirname"], "z", "zero", Operands::Text),
    row(
        &["realpath"],
        "eLmPqsz",
        "relative-to= relative-base= no-symlinks canonicalize-missing",
        Operands::Names,
    ),
    row(&["readlink"], "efmnqsvz", "canonicalize no-newline", Operands::Names),
    row(&["stat"], "Lfc:t", "dereference file-system format= printf= terse", Operands::Names),
    row(
        &["du"],
        "0abcDhHklLmPsSxd:t:",
        "all apparent-size bytes max-depth= human-readable summarize total si exclude= one-file-system time",
        Operands::Names,
    ),
    row(
        &["df"],
        "aB:hHiklPTt:x:",
        "all human-readable inodes local portability print-type si total type=",
        Operands::Names,
    ),
    row(
        &["tree"],
        "adfilxCFDhnpqrsStuvJX#L!P!I!",
        "dirsfirst noreport gitignore prune du si sort= filelimit= charset=",
        Operands::Names,
    ),
    row(&["file"], "bhiLk", "brief mime mime-type mime-encoding dereference no-dereference", Operands::Names),
    row(&["which"], "a", "", Operands::Text),
    row(&["type"], "aptP", "", Operands::Text),
    row(
        &["cat"],
        "AbeEnstTuv",
        "number number-nonblank show-all show-ends show-nonprinting show-tabs squeeze-blank",
        Operands::Contents,
    ),
    row(&["tac", "rev"], "", "", Operands::Contents),
    row(&["nl"], "b:n:s:v:w:", "body-numbering= number-format= number-separator=", Operands::Contents),
    row(&["head"], "#n:c:qvz", "bytes= lines= quiet silent verbose zero-terminated", Operands::Contents),
    row(
        &["tail"],
        "#n:c:fFqvzs:",
        "bytes= lines= follow=? quiet silent verbose retry pid=",
        Operands::Contents,
    ),
    row(&["wc"], "clLmw", "bytes chars lines max-line-length words", Operands::Names),
    row(
        &["cut"],
        "b:c:d:f:nsz",
        "bytes= characters= complement delimiter= fields= only-delimited output-delimiter= zero-terminated",
        Operands::Contents,
    ),
    row(&["paste"], "d:sz", "delimiters= serial", Operands::Contents),
    row(&["tr"], "cCdst", "complement delete squeeze-repeats truncate-set1", Operands::Text),
    row(&["fold"], "bsw:", "bytes spaces width=", Operands::Contents),
    row(&["expand"], "it:", "tabs= initial", Operands::Contents),
    row(&["unexpand"], "at:", "tabs= all", Operands::Contents),
    row(&["column"], "ts:o:c:x", "table separator= output-separator=", Operands::Contents),
    row(&["comm"], "123z", "check-order nocheck-order output-delimiter= total", Operands::Contents),
    row(&["join"], "a:e:ij:o:t:v:1:2:z", "ignore-case header", Operands::Contents),
    row(
        &["uniq"],
        "cdDiuzf:s:w:",
        "count repeated all-repeated=? group=? ignore-case unique skip-fields= skip-chars= check-chars=",
        Operands::OneFile,
    ),
    row(
        &["sort"],
        "bdfgiMhnRrVcCmsuzk:t:",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort month-sort \
        human-numeric-sort numeric-sort random-sort reverse sort= version-sort check=? key= merge stable \
        field-separator= unique zero-terminated",
        Operands::Contents,
    ),
    row(
        &["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"],
        "btz",
        "binary tag text zero",
        Operands::Contents,
    ),
    row(&["cksum"], "a:z", "algorithm= tag untagged zero", Operands::Contents),
    row(&["sum"], "rs", "sysv", Operands::Contents),
    row(
        &["od"],
        "A:j:N:t:vw?abcdfiloxs",
        "address-radix= skip-bytes= read-bytes= format= output-duplicates width=?",
        Operands::Contents,
    ),
    row(&["hexdump", "hd"], "bcCdoxn:s:v", "canonical length= skip= no-squeezing", Operands::Contents),
    row(&["strings"], "adfn:t:wo", "all bytes= radix=", Operands::Contents),
    row(&["base64", "base32"], "diw:", "decode ignore-garbage wrap=", Operands::Contents),
    row(
        &["diff"],
        "abBcdeEfHiI:nNpqrstTuU:wW:yZC:x:#",
        "brief context=? unified=? side-by-side width= recursive ignore-all-space ignore-space-change \
        ignore-blank-lines ignore-case text report-identical-files exclude= new-file color=? label= \
        suppress-common-lines strip-trailing-cr minimal",
        Operands::Contents,
    ),
    row(&["cmp"], "bi:ln:s", "print-bytes bytes= quiet silent verbose", Operands::Contents),
    row(
        &["egrep", "fgrep"],
        "e:iyvwxcLlm:oqsbHhnTZA:B:C:#ad:D:IrRUz",
        "regexp= ignore-case no-ignore-case invert-match word-regexp line-regexp count color=? colour=? \
        files-without-match files-with-matches max-count= only-matching quiet silent no-messages byte-offset \
        with-filename no-filename label= line-number initial-tab null after-context= before-context= context= \
        text binary-files= devices= directories= exclude= exclude-dir= include= recursive \
        dereference-recursive line-buffered null-data",
        Operands::PatternThenContents,
    ),
    row(
        &["grep"],
        "EFGPe:iyvwxcLlm:oqsbHhnTZA:B:C:#ad:D:IrRUz",
        "extended-regexp fixed-strings basic-regexp perl-regexp regexp= ignore-case no-ignore-case \
        invert-match word-regexp line-regexp count color=? colour=? files-without-match files-with-matches \
        max-count= only-matching quiet silent no-messages byte-offset with-filename no-filename label= \
        line-number initial-tab null after-context= before-context= context= text binary-files= devices= \
        directories= exclude= exclude-dir= include= recursive dereference-recursive line-buffered null-data",
        Operands::PatternThenContents,
    ),
    row(
        &["rg"],
        "A:aB:bcC:E:e:Fg:HhiIlLM:m:nNoPpqr:Ss.T:t:UuvwxVj:0",
        "after-context= before-context= context= count count-matches color= column no-column crlf debug \
        encoding= files files-with-matches files-without-match fixed-strings follow glob= \
        glob-case-insensitive heading no-heading hidden no-hidden iglob= ignore-case include-zero \
        invert-match json line-buffered line-number no-line-number line-regexp max-columns= max-count= \
        max-depth= max-filesize= multiline multiline-dotall no-config no-ignore no-ignore-vcs no-messages \
        null one-file-system only-matching passthru pcre2 pretty quiet regexp= replace= smart-case sort= \
        sortr= stats text threads= trim type= type-not= type-list unrestricted version vimgrep with-filename \
        no-filename word-regexp",
        Operands::PatternThenContents,
    ),
    row(&["lsblk"], "abdfJlmno:Opt", "all json output=", Operands::None),
    row(&["lscpu"], "abJp?", "all json", Operands::None),
    row(&["lsmod"], "", "", Operands::None),
    row(&["getconf"], "", "", Operands::Text),
    row(&["locale"], "a", "", Operands::Text),
    row(&["printenv"], "0", "null", Operands::Text),
];

/// Returns whether a program prints the content of its operands.
pub(super) fn prints_content(name: &str) -> bool {
    let is_reader = |reader: &Reader| {
        reader.names.contains(&name)
            && matches!(
                reader.operands,
                Operands::Contents | Operands::OneFile | Operands::PatternThenContents
            )
    };
    matches!(name, "sed" | "awk" | "gawk" | "mawk" | "jq") || READERS.iter().any(is_reader)
}

/// Judges a command that may be a reader. `None` if it is not one, or has an unlisted form.
pub(super) fn judge(name: &str, words: &[Word], place: &Place<'_>) -> Option<Finding> {
    match name {
        "test" => return test(words),
        "ps" => return ps(words),
        // every word is an operand
        "echo" => return is_known(words).then_some(Finding::NOTHING),
        // `-v` and `%n` set variables
        "printf" => {
            let format = match words {
                [Word::Literal(end), Word::Literal(format), ..] if end == "--" => format,
                [Word::Literal(format), ..] if !format.starts_with('-') => format,
                _ => return None,
            };
            return (only_prints(format) && is_known(words)).then_some(Finding::NOTHING);
        }
        "jq" => return jq(words, place),
        "date" => return date(words),
        "python" | "python3" | "node" | "gcc" | "clang" | "java" | "bash" | "perl" | "ruby" | "php" => {
            let [Word::Literal(only)] = words else { return None };
            return (only == "--version").then_some(Finding::NOTHING);
        }
        "command" => {
            let is_question =
                matches!(words.first(), Some(Word::Literal(first)) if first == "-v" || first == "-V");
            return (is_question && is_known(words)).then_some(Finding::NOTHING);
        }
        _ => {}
    }
    let reader = READERS.iter().find(|reader| reader.names.contains(&name))?;
    let is_loose = matches!(name, "ls" | "dir" | "vdir" | "stat" | "realpath" | "readlink");
    let spelled: Vec<Word>;
    let words = if is_loose {
        // a file name that is parsed as an option is harmless for these programs, and its value does not matter
        spelled = words
            .iter()
            .map(|word| if matches!(word, Word::Pattern { .. }) { dot() } else { word.clone() })
            .collect();
        &spelled
    } else {
        words
    };
    let given = reader.options.read(words)?;
    let operands = given.operands.as_slice();
    let recursion = match name {
        "rg" => Some(ripgrep(&given)),
        "grep" | "egrep" | "fgrep" | "diff" => grep(&given),
        _ => None,
    };
    let extent = recursion.as_ref().map_or(Extent::File, Extent::Below);
    match reader.operands {
        Operands::None if !operands.is_empty() => None,
        Operands::Text if !operands.iter().all(|word| word.literal().is_some()) => None,
        Operands::None | Operands::Text => Some(Finding::NOTHING),
        Operands::Names => {
            let is_known = operands.iter().all(|word| !matches!(word, Word::Unknown));
            Some(if is_known { Finding::NOTHING } else { Finding::of(Risk::Medium) })
        }
        Operands::OneFile if operands.len() > 1 => None,
        Operands::OneFile | Operands::Contents => Some(contents(operands, extent, place)),
        Operands::PatternThenContents => {
            let has_pattern = given.has(&["-e", "--regexp", "--files", "--type-list"]);
            let files = if has_pattern { operands } else { operands.get(1..).unwrap_or_default() };
            if !has_pattern && operands.first().is_none_or(|word| word.literal().is_none()) {
                return None;
            }
            // without a file operand, the directory itself is searched
            let is_here = recursion.is_some() && files.is_empty();
            let here = if is_here { place.read(".", extent) } else { Finding::NOTHING };
            Some(contents(files, extent, place).and(here))
        }
    }
}

fn contents(files: &[&Word], extent: Extent<'_>, place: &Place<'_>) -> Finding {
    let read = files.iter().filter(|file| file.literal() != Some("-"));
    read.map(|file| place.read_word(file, extent)).fold(Finding::NOTHING, Finding::and)
}

/// Returns what `grep` or `diff` reads below a directory; `None` if only files.
fn grep(given: &ParsedArguments<'_>) -> Option<Recursion> {
    let follows_links = given.has(&["-R", "--dereference-recursive"]);
    let is_recursive = follows_links
        || given.has(&["-r", "--recursive"])
        || given.values(&["-d", "--directories"]).any(|value| value == "recurse");
    let texts = |names: &[&str]| given.values(names).map(str::to_owned).collect();
    is_recursive.then(|| Recursion {
        follows_links,
        included: texts(&["--include"]),
        excluded: texts(&["--exclude", "--exclude-dir"]),
        ..Recursion::all()
    })
}

/// Returns what `rg` reads below a directory.
fn ripgrep(given: &ParsedArguments<'_>) -> Recursion {
    let unrestricted =
        given.options.iter().filter(|(name, _)| name == "-u" || name == "--unrestricted").count();
    let texts = |names: &[&str]| given.values(names).map(str::to_owned).collect();
    Recursion {
        hidden: unrestricted > 1 || given.has(&["--hidden", "-."]),
        obeys_ignore_files: unrestricted == 0 && !given.has(&["--no-ignore", "--no-ignore-vcs"]),
        follows_links: given.has(&["-L", "--follow"]),
        overrides: texts(&["-g", "--glob", "--iglob"]),
        types: texts(&["-t", "--type"]),
        ..Recursion::default()
    }
}

fn is_known(words: &[Word]) -> bool {
    words.iter().all(|word| !matches!(word, Word::Unknown))
}

/// Returns whether each directive of a `printf` format only prints. `%n` sets the variable that the argument names.
fn only_prints(format: &str) -> bool {
    let mut directives = format.split('%').skip(1);
    while let Some(directive) = directives.next() {
        if directive.is_empty() {
            // `%%`, and the text after it
            if directives.next().is_none() {
                return false;
            }
            continue;
        }
        let conversion = directive.trim_start_matches(['-', '+', ' ', '#', '0']);
        let conversion =
            conversion.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        if !conversion.starts_with(|letter| "diouxXeEfFgGaAcsbq".contains(letter)) {
            return false;
        }
    }
    true
}

const JQ: Options = Options::new(
    "cCMSrjasenR",
    "compact-output null-input raw-input raw-output join-output slurp sort-keys tab indent= exit-status \
    color-output monochrome-output ascii-output",
);

/// Judges `jq`. Its program must not load others: `import` and `include` name the directory they read from.
fn jq(words: &[Word], place: &Place<'_>) -> Option<Finding> {
    let given = JQ.read(words)?;
    let (program, files) = given.operands.split_first()?;
    let program = program.literal()?;
    let loads = ["import", "include", "modulemeta"].iter().any(|word| program.contains(word));
    (!loads).then(|| contents(files, Extent::File, place))
}

/// Returns the programs whose options are listed, for the test that compares them with the real ones.
#[cfg(test)]
pub(super) fn listed() -> impl Iterator<Item = super::Listed> {
    let readers =
        READERS.iter().flat_map(|reader| reader.names.iter().map(|name| (vec![*name], reader.options)));
    let others = [(vec!["jq"], JQ), (vec!["date"], DATE), (vec!["ps"], PS)];
    readers.chain(others).map(|(name, options)| (name, options.all()))
}

fn dot() -> Word {
    Word::Literal(".".to_owned())
}

const DATE: Options =
    Options::new("d:r:uRI?", "date= reference= utc universal iso-8601=? rfc-3339= rfc-email");

/// Judges `date`. Its operands set the clock unless they are formats.
fn date(words: &[Word]) -> Option<Finding> {
    let given = DATE.read(words)?;
    let is_format = |word: &&Word| word.literal().is_some_and(|text| text.starts_with('+'));
    given.operands.iter().all(is_format).then_some(Finding::NOTHING)
}

/// Judges `test`. A name with an index is evaluated, and could run anything.
fn test(words: &[Word]) -> Option<Finding> {
    const OPERATORS: [&str; 27] = [
        "!", "=", "==", "!=", "-a", "-o", "-d", "-e", "-f", "-h", "-L", "-r", "-s", "-w", "-x", "-n", "-z",
        "-p", "-S", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot",
    ];
    let is_plain = |word: &Word| {
        word.literal().is_some_and(|text| {
            OPERATORS.contains(&text) || !text.starts_with('-') && !text.contains(['[', '$', '`'])
        })
    };
    words.iter().all(is_plain).then_some(Finding::NOTHING)
}

const PS: Options = Options::new("AaefFlHju:wp:C:", "forest no-headers sort= pid= ppid=");

/// Judges `ps`. One letter shows the environment of processes, which contains secrets.
fn ps(words: &[Word]) -> Option<Finding> {
    let given = PS.read(words)?;
    let is_plain = |word: &&Word| {
        word.literal().is_some_and(|text| text.chars().all(|letter| "auxwflj0123456789".contains(letter)))
    };
    given.operands.iter().all(is_plain).then_some(Finding::NOTHING)
}
