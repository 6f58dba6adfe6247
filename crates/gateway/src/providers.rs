//! The model providers and their keys. A key stored by a client takes precedence over `config.toml` of the home, which
//! takes precedence over the environment.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
};

use agent::provider::{
    ApiKey, Provider, Timeouts,
    anthropic::Anthropic,
    echo::Echo,
    gemini::Gemini,
    http::{BaseUrl, HttpClient},
    openai::OpenAi,
};
use protocol::provider::ProviderKeySource;
use serde::Deserialize;

use crate::{Error, home::replace_file};

/// The providers of one gateway.
pub(crate) struct Providers {
    config: Config,
    keys_file: PathBuf,
    stored: RwLock<BTreeMap<String, String>>,
    /// Serializes changes of the stored keys.
    changing: Mutex<()>,
    /// The HTTP client, created for the first provider that needs it, because reading the system certificates is slow.
    client: OnceLock<Option<HttpClient>>,
}

/// The content of `config.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    #[serde(default)]
    providers: BTreeMap<String, ProviderConfig>,
    /// The settings of worker sessions.
    #[serde(default)]
    sessions: sessions::Config,
    /// Declared drivers in addition to the built-in ones, by name.
    #[serde(default)]
    drivers: BTreeMap<String, drivers::DeclaredDriver>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderConfig {
    /// The base URL of a compatible service; absent for the provider's own service.
    #[serde(default)]
    base_url: Option<String>,
    #[serde(default)]
    api_key: Option<String>,
}

impl std::fmt::Debug for ProviderConfig {
    /// Omits the key, so that it is never logged.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ProviderConfig")
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

/// A supported provider, with the environment variable for its key. `None` if it needs no key.
struct SupportedProvider {
    id: &'static str,
    title: &'static str,
    variable: Option<&'static str>,
}

const SUPPORTED: &[SupportedProvider] = &[
    SupportedProvider {
        id: "echo",
        title: "Echo",
        variable: None,
    },
    SupportedProvider {
        id: "openai",
        title: "OpenAI-compatible",
        variable: Some("OPENAI_API_KEY"),
    },
    SupportedProvider {
        id: "anthropic",
        title: "Anthropic",
        variable: Some("ANTHROPIC_API_KEY"),
    },
    SupportedProvider {
        id: "gemini",
        title: "Gemini",
        variable: Some("GEMINI_API_KEY"),
    },
];

impl Config {
    /// Returns the options of worker sessions.
    pub(crate) fn sessions(&self) -> sessions::Options {
        sessions::Options::new(&self.sessions, self.drivers.clone())
    }

    /// Reads and validates the file. Returns the defaults if it is missing.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let failed = |detail: String| Error::Config {
            path: path.to_owned(),
            detail,
        };
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(failed(error.to_string())),
        };
        let config: Self = toml::from_str(&text).map_err(|error| {
            // The full message can quote the line, which may contain a key.
            let line = error.span().map_or(1, |span| {
                text[..span.start.min(text.len())].lines().count().max(1)
            });
            failed(format!("line {line}: {}", error.message()))
        })?;
        for (id, provider) in &config.providers {
            if !SUPPORTED
                .iter()
                .any(|known| known.id == id && known.variable.is_some())
            {
                return Err(failed(format!(
                    "`providers.{id}` is not a provider: expected openai, anthropic or gemini"
                )));
            }
            if let Some(base_url) = &provider.base_url {
                let parsed = BaseUrl::parse(base_url);
                parsed.map_err(|error| failed(format!("`providers.{id}.base_url`: {error}")))?;
            }
        }
        Ok(config)
    }
}

impl Providers {
    pub(crate) fn open(config: Config, keys_file: PathBuf) -> Result<Self, Error> {
        let stored = match fs::read(&keys_file) {
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|_| Error::Config {
                path: keys_file.clone(),
                detail: "expected a JSON object of keys".to_owned(),
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            Err(source) => {
                return Err(Error::Home {
                    path: keys_file,
                    source,
                });
            }
        };
        Ok(Self {
            config,
            keys_file,
            stored: RwLock::new(stored),
            changing: Mutex::default(),
            client: OnceLock::new(),
        })
    }

    /// Returns every provider with the source of its key.
    pub(crate) fn list(&self) -> Vec<protocol::provider::Provider> {
        SUPPORTED.iter().map(|known| self.describe(known)).collect()
    }

    /// Returns one provider with the source of its key, or `None` if the id is unknown.
    pub(crate) fn describe_one(&self, id: &str) -> Option<protocol::provider::Provider> {
        SUPPORTED
            .iter()
            .find(|known| known.id == id)
            .map(|known| self.describe(known))
    }

    fn describe(&self, known: &SupportedProvider) -> protocol::provider::Provider {
        let (key, key_source) = self.key(known);
        let needs_key = known.variable.is_some() && key.is_none() && !self.has_own_base(known.id);
        protocol::provider::Provider {
            id: known.id.to_owned(),
            title: known.title.to_owned(),
            available: !needs_key,
            key_source,
            hint: known.variable.filter(|_| needs_key).map(|variable| {
                format!("store a key with `provider/set_api_key`, or set {variable} or `providers.{}.api_key` in config.toml", known.id)
            }),
        }
    }

    /// Returns a provider that is ready to be called. Blocks briefly when the first provider needs the network.
    pub(crate) fn get(&self, id: &str) -> Option<Arc<dyn Provider>> {
        let known = SUPPORTED.iter().find(|known| known.id == id)?;
        if known.variable.is_none() {
            return Some(Arc::new(Echo));
        }
        let timeouts = Timeouts::default();
        let client = self.client.get_or_init(|| {
            HttpClient::new(&timeouts)
                .inspect_err(|error| tracing::error!(%error, "the HTTP client cannot be created"))
                .ok()
        });
        let client = client.clone()?;
        let key = self.key(known).0.map(ApiKey::new);
        let configured = self
            .config
            .providers
            .get(id)
            .and_then(|provider| provider.base_url.as_deref());
        // The URL was validated when the file was read.
        let base = |default: fn() -> BaseUrl| {
            configured
                .and_then(|base| BaseUrl::parse(base).ok())
                .unwrap_or_else(default)
        };
        Some(match id {
            "openai" => Arc::new(OpenAi::new(
                base(OpenAi::default_base),
                key,
                timeouts,
                client,
            )),
            "anthropic" => Arc::new(Anthropic::new(
                base(Anthropic::default_base),
                key,
                timeouts,
                client,
            )),
            _ => Arc::new(Gemini::new(
                base(Gemini::default_base),
                key,
                timeouts,
                client,
            )),
        })
    }

    /// Stores a key in a file that only the owner can read.
    pub(crate) fn set_key(&self, id: &str, key: &str) -> io::Result<()> {
        self.change_keys(|keys| {
            keys.insert(id.to_owned(), key.to_owned());
        })
    }

    /// Deletes a stored key. Returns whether one was stored.
    pub(crate) fn delete_key(&self, id: &str) -> io::Result<bool> {
        let mut was_there = false;
        self.change_keys(|keys| was_there = keys.remove(id).is_some())?;
        Ok(was_there)
    }

    fn change_keys(&self, change: impl FnOnce(&mut BTreeMap<String, String>)) -> io::Result<()> {
        // A separate lock, so that readers of keys do not wait for the disk.
        let _alone = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = self.stored.read().unwrap_or_else(PoisonError::into_inner);
        let mut changed = stored.clone();
        drop(stored);
        change(&mut changed);
        let json = serde_json::to_vec_pretty(&changed).map_err(io::Error::other)?;
        replace_file(&self.keys_file, &json)?;
        *self.stored.write().unwrap_or_else(PoisonError::into_inner) = changed;
        Ok(())
    }

    fn key(&self, known: &SupportedProvider) -> (Option<String>, ProviderKeySource) {
        let Some(variable) = known.variable else {
            return (None, ProviderKeySource::NotNeeded);
        };
        let stored = self.stored.read().unwrap_or_else(PoisonError::into_inner);
        let configured = self.config.providers.get(known.id);
        let candidates = [
            (stored.get(known.id).cloned(), ProviderKeySource::Stored),
            (
                configured.and_then(|provider| provider.api_key.clone()),
                ProviderKeySource::Config,
            ),
            (std::env::var(variable).ok(), ProviderKeySource::Environment),
        ];
        let found = candidates
            .into_iter()
            .find(|(key, _)| key.as_deref().is_some_and(|key| !key.trim().is_empty()));
        found.unwrap_or((None, ProviderKeySource::Missing))
    }

    /// Returns all keys that are stored or in `config.toml`, used or not.
    pub(crate) fn keys(&self) -> Vec<String> {
        let configured = self.config.providers.values();
        let configured = configured.filter_map(|provider| provider.api_key.clone());
        let stored = self.stored.read().unwrap_or_else(PoisonError::into_inner);
        configured.chain(stored.values().cloned()).collect()
    }

    fn has_own_base(&self, id: &str) -> bool {
        let configured = self.config.providers.get(id);
        configured.is_some_and(|provider| provider.base_url.is_some())
    }
}

impl std::fmt::Debug for Providers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Providers")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        replace_file(&path, text.as_bytes()).unwrap();
        Config::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_stored_key_is_private_and_wins() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("provider_keys.json");
        let config = config("[providers.openai]\napi_key = \"from-config\"\n").unwrap();
        let providers = Providers::open(config, file.clone()).unwrap();
        let source = |providers: &Providers| providers.describe_one("openai").unwrap().key_source;
        assert_eq!(source(&providers), ProviderKeySource::Config);
        providers.set_key("openai", "secret").unwrap();
        assert_eq!(source(&providers), ProviderKeySource::Stored);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(&file).unwrap().permissions().mode() & 0o777,
                0o600
            );
        }
        let reopened = Providers::open(Config::default(), file).unwrap();
        assert_eq!(source(&reopened), ProviderKeySource::Stored);
        assert!(reopened.delete_key("openai").unwrap());
        assert!(!reopened.delete_key("openai").unwrap());
    }

    #[test]
    fn a_mistake_in_the_file_is_named_without_the_key() {
        let error = config("[providers.openai]\napi_key = \"sk-secret\"\nkee = 1\n").unwrap_err();
        assert!(
            error.contains("line") && !error.contains("sk-secret"),
            "{error}"
        );
        assert!(
            config("[providers.other]\n")
                .unwrap_err()
                .contains("providers.other")
        );
        assert!(
            config("[providers.openai]\nbase_url = \"ftp://x\"\n")
                .unwrap_err()
                .contains("base_url")
        );
    }
}
