//! Files that usually hold secrets: keys, passwords, tokens, and histories of shells, into which people paste them. Pure.

use std::ffi::OsStr;
use std::path::Path;

/// Relative to a home directory: files, and directories with all their content.
const IN_HOME: &str = "\
    .ssh .gnupg .aws .azure .kube .oci .bluemix .fly .minikube .netrc _netrc .authinfo .authinfo.gpg .npmrc .yarnrc .yarnrc.yml \
    .pypirc .git-credentials .pgpass .my.cnf .mylogin.cnf .vault-token .terraformrc .terraform.d .password-store .s3cfg .boto \
    .dockercfg .docker/config.json .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .m2/settings.xml \
    .m2/settings-security.xml .gradle/gradle.properties .nuget/NuGet.Config .composer/auth.json .subversion/auth .smbcredentials \
    .databrickscfg .snowsql .snowflake .kaggle .huggingface .cache/huggingface/token .cache/huggingface/stored_tokens .ngrok2 \
    .heroku .netlify .wrangler .tsh .step .acme.sh .lastpass .electrum .bitcoin .ethereum .age .wgetrc .curlrc .msmtprc \
    .fetchmailrc .mbsyncrc .offlineimaprc .muttrc .thunderbird .mozilla .purple .Xauthority .ICEauthority .claude.json \
    .claude/.credentials.json .codex/auth.json .gemini .qwen .cursor/mcp.json .continue .openai .anthropic .config/gh \
    .config/gcloud .config/hub .config/glab-cli .config/doctl .config/op .config/1Password .config/Bitwarden .config/rclone \
    .config/containers/auth.json .config/google-chrome .config/chromium .config/BraveSoftware .config/microsoft-edge \
    .config/pip .pip .config/NuGet .config/composer/auth.json .config/git/credentials .config/netlify .config/stripe \
    .config/configstore .config/ngrok .config/heroku .config/.wrangler .config/github-copilot .config/sops .config/age \
    .config/solana .config/helm .config/keepassxc .config/lego .config/openai .config/anthropic .config/goose .config/opencode \
    .config/msmtp .config/isyncrc .config/neomutt .config/pulse/cookie .config/snowflake .config/linode-cli .config/hcloud \
    .config/fish/fish_variables .config/nushell/history.txt .local/share/keyrings .local/share/kwalletd .local/share/opencode \
    .local/share/com.vercel.cli .local/share/fish/fish_history .local/share/atuin .local/share/powershell .vercel \
    .bash_history .zsh_history .zhistory .histfile .sh_history .history .ksh_history .python_history .node_repl_history \
    .psql_history .mysql_history .sqlite_history .rediscli_history .irb_history .pry_history .mongo_history .dbshell .lesshst \
    .viminfo .local/state/python_history Library/Keychains";

/// In any directory.
const NAMED: &str = "\
    .pgpass .netrc _netrc .vault-token .git-credentials .htpasswd .dockercfg .my.cnf .env .envrc.local credentials.json \
    client_secret.json service-account.json service_account.json serviceAccountKey.json secrets.json secrets.yml secrets.yaml \
    secrets.toml master.key terraform.tfstate terraform.tfstate.backup terraform.tfvars id_rsa id_dsa id_ecdsa id_ed25519 \
    id_ecdsa_sk id_ed25519_sk .vault_pass .credentials.json .s3cfg wp-config.php .psql_history .bash_history .zsh_history";

/// Endings of names, in any directory: private keys and stores of keys and passwords.
const ENDINGS: [&str; 15] = [
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".p8",
    ".jks",
    ".keystore",
    ".kdbx",
    ".kdb",
    ".ppk",
    ".ovpn",
    ".keytab",
    ".agekey",
    ".pkcs12",
    ".jceks",
];

/// Files of the system, and directories with all their content.
const OF_SYSTEM: &str = "\
    /etc/shadow /etc/gshadow /etc/shadow- /etc/gshadow- /etc/sudoers /etc/sudoers.d /etc/ssl/private /etc/wireguard \
    /etc/NetworkManager/system-connections /etc/krb5.keytab /etc/kubernetes /etc/rancher /run/secrets /var/run/secrets \
    /var/lib/kubelet /etc/docker/key.json /etc/openvpn /etc/ppp/chap-secrets /etc/ppp/pap-secrets /etc/security/opasswd";

/// Returns whether a real path usually holds secrets, for a user with this home directory.
pub(super) fn holds_credentials(path: &Path, home: &Path) -> bool {
    let is_below = |home: &Path| words(IN_HOME).any(|place| path.starts_with(home.join(place)));
    is_below(home)
        || other_home(path).is_some_and(is_below)
        || words(OF_SYSTEM).any(|place| path.starts_with(place))
        || path.file_name().and_then(OsStr::to_str).is_some_and(|name| is_named_so(name, path))
}

fn words(list: &str) -> impl Iterator<Item = &str> {
    list.split_ascii_whitespace()
}

/// Returns the home directory that a path is in, by the usual places of homes.
fn other_home(path: &Path) -> Option<&Path> {
    let depth = match path.components().nth(1)?.as_os_str().to_str()? {
        "root" => 2,
        "home" | "Users" => 3,
        _ => return None,
    };
    let count = path.components().count();
    path.ancestors().nth(count.checked_sub(depth)?)
}

fn is_named_so(name: &str, path: &Path) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_example =
        [".example", ".sample", ".template", ".dist"].iter().any(|ending| lower.ends_with(ending));
    let is_environment = lower.starts_with(".env.") && !is_example;
    let is_host_key = path.starts_with("/etc/ssh") && lower.ends_with("_key");
    // certificates of authorities are public
    let is_public = ["cacert.pem", "ca-bundle.pem", "chain.pem", "fullchain.pem"].contains(&&*lower);
    let is_ending = !is_public && ENDINGS.iter().any(|ending| lower.ends_with(ending));
    is_environment || is_host_key || is_ending || words(NAMED).any(|named| named.eq_ignore_ascii_case(name))
}
