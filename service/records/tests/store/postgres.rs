//! A database of its own for each test, in the server that `MODMILL_TEST_POSTGRES` names.

use modmill_records::store::PostgresStore;
use std::net::SocketAddr;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, NoTls};

pub(crate) struct Database {
    pub(crate) admin: Client,
    pub(crate) name: String,
    pub(crate) url: String,
}

impl Database {
    /// `None`, and a line that says so, if no server is named.
    pub(crate) async fn create() -> Option<Self> {
        let Ok(server) = std::env::var("MODMILL_TEST_POSTGRES") else {
            eprintln!("skipped: MODMILL_TEST_POSTGRES does not name a PostgreSQL server");
            return None;
        };
        let (admin, connection) = tokio_postgres::connect(&server, NoTls).await.unwrap();
        tokio::spawn(connection);
        let name = format!("modmill_test_{:016x}", getrandom::u64().unwrap());
        admin.batch_execute(&format!("CREATE DATABASE {name}")).await.unwrap();
        let (start, _) = server.rsplit_once('/').unwrap();
        Some(Self { admin, url: format!("{start}/{name}"), name })
    }

    /// The address of the server.
    pub(crate) async fn server(&self) -> SocketAddr {
        let config: tokio_postgres::Config = self.url.parse().unwrap();
        let (Some(Host::Tcp(host)), port) = (config.get_hosts().first(), config.get_ports().first()) else {
            panic!("MODMILL_TEST_POSTGRES names no host")
        };
        let mut found = tokio::net::lookup_host((host.as_str(), *port.unwrap_or(&5432))).await.unwrap();
        found.next().unwrap()
    }

    /// The database's URL with another address of its server.
    pub(crate) fn url_at(&self, address: SocketAddr) -> String {
        let (start, name) = self.url.rsplit_once('/').unwrap();
        let user = start.strip_prefix("postgres://").unwrap().rsplit_once('@').map_or("", |(user, _)| user);
        format!("postgres://{user}@{address}/{name}")
    }

    pub(crate) async fn store(&self) -> PostgresStore {
        PostgresStore::connect(&self.url).await.unwrap()
    }

    pub(crate) async fn drop(self) {
        self.admin.batch_execute(&format!("DROP DATABASE {} WITH (FORCE)", self.name)).await.unwrap();
    }
}

/// `MODMILL_TEST_POSTGRES_ROOT` names the file of the certificate that the server has, for the name in the
/// URL.
#[tokio::test]
async fn tls_checks_the_server() {
    let Some(database) = Database::create().await else { return };
    let Ok(root) = std::env::var("MODMILL_TEST_POSTGRES_ROOT") else {
        eprintln!(
            "skipped: MODMILL_TEST_POSTGRES_ROOT does not name the certificate of the PostgreSQL server"
        );
        return database.drop().await;
    };
    let store = PostgresStore::connect(&format!("{}?sslmode=verify-full&sslrootcert={root}", database.url))
        .await
        .unwrap();
    let query = "SELECT bool_and(ssl.ssl) FROM pg_stat_ssl AS ssl JOIN pg_stat_activity USING (pid) WHERE datname = $1";
    let encrypted: bool = database.admin.query_one(query, &[&database.name]).await.unwrap().get(0);
    assert!(encrypted);
    drop(store);
    // Without the file the server's certificate is checked against the system's, and is not among them.
    let error =
        PostgresStore::connect(&format!("{}?sslmode=require", database.url)).await.err().unwrap().to_string();
    assert!(error.contains("certificate"), "{error}");
    database.drop().await;
}
