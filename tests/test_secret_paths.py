"""Secret files: names in either case, backups, examples, content, and paths that the user readmits."""

import os
from pathlib import Path

import pytest
from canaries import key_block, putty_key, text_of
from discovery import put

from keyhole.core.config import load_settings
from keyhole.core.errors import ConfigError, PathError
from keyhole.core.files.listed_names import listed_path
from keyhole.core.files.read import read_source
from keyhole.core.files.secret_content import SMALL_FILE
from keyhole.core.files.walk import examine, scan
from keyhole.core.service import Service
from keyhole.core.types.source_files import Candidate, SecretPolicy, Skip, SkipReason, SourceFile

LIMIT = 1_000_000


def words_in(text: str) -> list[str]:
    return text.split()


SECRET_PATHS = words_in(
    """
    .ENV .env~ .env.bak #.env# .ENV.BACKUP .env.old .env.local .env.local.1 prod.env PROD.ENV~ .envrc SERVER.PEM
    server.Key a/b/cert.P12 store.jks mail.gpg notes.pgp client.ovpn id_rsa ID_RSA id_rsa_work id_ed25519_home
    deploy_rsa .SSH/known_hosts .ssh/config .gnupg/pubring.kbx .vault_pass .authinfo .dockercfg .netrc _netrc
    .pgpass .aws/config .AWS/credentials home/.aws/config kubeconfig admin.kubeconfig .kube/config
    .docker/config.json credentials.json Credentials.JSON credentials.json.bak deep/service-account.json
    service-account-prod.json service_account.json client_secret_1.json secrets.yml secrets.YAML conf/secrets.yaml
    secrets.toml terraform.tfvars prod.auto.tfvars state.tfstate state.tfstate.backup wp-config.php WP-CONFIG.PHP
    wp-config.php.bak .npmrc .pypirc .bash_history .zsh_history .python_history .psql_history fish_history
    .cargo/credentials.toml .config/gh/hosts.yml .env-prod .env_local .env-backup .ENV-PROD.bak .env.pub .env.php
    .env.local.php conf/.env/prod .envs/.production/.django aws/credentials deploy/aws/credentials wp-config.old.php
    wp-config.bak.php credentials(1).json credentials.backup.json terraform.tfstate.1700000000.backup
    gcloud/legacy_credentials/me/adc.json safe.agilekeychain/data templates/credentials.json
    """
)
SECRET_PATHS += [f"credentials{copy}.json" for copy in (" (1)", " copy", " copy 2", " - Copy", "-copy")]
SECRET_PATHS.append(".env (2)")
SERVED_PATHS = words_in(
    """
    .env.example .env.sample .env.template .env.dist prod.env.example credentials.json.example
    terraform.tfvars.sample wp-config-sample.php config/secrets.yml.dist id_rsa.pub id_ed25519_work.pub secrets.py
    credentials.py environment.py docker.env/compose.py signing_rsa/mod.rs keys.md history.py kubeconfig.go
    .yarnrc.yml signed.asc pkg/kubeconfig/load.go src/cvs/parse.py id_rsa_parser.py id_ed25519_test.go
    id_rsa_tools/mod.rs id_rsa_notes.md .env.d.ts .env.ts .env_loader.py .history/app/main.py adc.json
    templates/secrets.yaml charts/web/templates/api/secrets.yml example.env sample.env .example.env
    terraform.example.tfvars example.tfvars secrets.sample.yml secrets.template.json .env.example.local .env-example
    .env_sample credentials/store.py aws/credentials/load.go
    """
)


@pytest.mark.parametrize("path", SECRET_PATHS)
def test_a_secret_name_is_skipped_in_either_case_and_as_a_backup(path: str, tmp_path: Path) -> None:
    put(tmp_path, path, "text\n")
    found = examine(tmp_path, path, max_bytes=LIMIT)
    assert isinstance(found, Skip), path
    assert found.reason == SkipReason.SECRET
    assert not scan(tmp_path, max_bytes=LIMIT).candidates


@pytest.mark.parametrize("path", SERVED_PATHS)
def test_examples_public_keys_and_code_are_served(path: str, tmp_path: Path) -> None:
    put(tmp_path, path, "text\n")
    assert isinstance(examine(tmp_path, path, max_bytes=LIMIT), Candidate), path
    assert isinstance(read_source(tmp_path, path, max_bytes=LIMIT), SourceFile)


def test_the_files_of_git_are_internal_in_either_case(tmp_path: Path) -> None:
    put(tmp_path, ".GIT/config", "text\n")
    found = examine(tmp_path, ".GIT/config", max_bytes=LIMIT)
    assert isinstance(found, Skip)
    assert found.reason == SkipReason.INTERNAL


@pytest.mark.parametrize(("folder", "is_skipped"), [("CVS", True), ("cvs", False), ("Cvs", False)])
def test_folders_of_cvs_are_internal_only_in_upper_case(folder: str, is_skipped: bool, tmp_path: Path) -> None:
    put(tmp_path, f"src/{folder}/Root", "text\n")
    found = scan(tmp_path, max_bytes=LIMIT)
    assert [skip.reason for skip in found.skips] == [SkipReason.INTERNAL] * is_skipped
    assert len(found.candidates) == (not is_skipped)


YARN_TOKEN = "npmAuth" + "Token: "


@pytest.mark.parametrize(
    ("path", "text", "is_secret"),
    [
        ("notes.txt", f"the key\n\n{key_block()}\nthat was it\n", True),
        ("deploy.py", f'KEY = """{key_block()}"""\n', True),
        ("one_line.json", key_block().join(['{"key": "', '"}\n']).replace("\n", "\\n"), True),
        ("putty.txt", putty_key(), True),
        ("notes_putty.txt", f"the key\n\n{putty_key()}\nthat was it\n", True),
        ("large_putty.txt", f"{putty_key()}{'text ' * SMALL_FILE}", True),
        ("putty.py", 'return text.startswith("PuTTY-User-Key-File-3:")\n', False),
        ("large.md", f"{key_block()}{'text ' * SMALL_FILE}", True),
        ("large.txt", f"text\n{key_block()}{'text ' * SMALL_FILE}", False),
        ("large.asc", f"text\n{key_block('PGP PRIVATE KEY BLOCK')}{'text ' * SMALL_FILE}", True),
        ("signed.asc", key_block("PGP SIGNATURE"), False),
        ("check.py", 'return text.startswith("-----BEGIN RSA " + "PRIVATE KEY-----")\n', False),
        ("markers.py", 'x = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")\n', False),
        (".yarnrc.yml", f"nodeLinker: node-modules\n{YARN_TOKEN}abcdef0123\n", True),
        (".yarnrc.yml", f'{YARN_TOKEN}"${{NPM_TOKEN}}"\n', False),
        (".YARNRC.yml.bak", f"{YARN_TOKEN}'abcdef0123'\n", True),
        ("other.yml", f"{YARN_TOKEN}abcdef0123\n", False),
    ],
)
def test_content_can_make_a_file_secret(path: str, text: str, is_secret: bool, tmp_path: Path) -> None:
    put(tmp_path, path, text)
    found = read_source(tmp_path, path, max_bytes=LIMIT)
    assert isinstance(found, Skip) == is_secret, found
    if isinstance(found, Skip):
        assert found.reason == SkipReason.SECRET
    else:
        assert key_block().split("\n")[1] not in found.text


def test_the_user_can_readmit_paths(tmp_path: Path) -> None:
    for path in ["prod.env", "a/prod.env", "a/dev.env", ".ssh/config", ".ssh/known_hosts", ".git/config"]:
        put(tmp_path, path, "text\n")
    put(tmp_path, "key.txt", key_block())
    secrets = SecretPolicy(readmits=("prod.env", ".ssh/config", ".git/config", "key.txt"))
    found = {candidate.path for candidate in scan(tmp_path, max_bytes=LIMIT, secrets=secrets).candidates}
    assert found == {"prod.env", "a/prod.env", ".ssh/config", "key.txt"}
    for path in ["prod.env", "a/dev.env", ".ssh/config", ".ssh/known_hosts", ".git/config"]:
        answer = examine(tmp_path, path, max_bytes=LIMIT, secrets=secrets)
        assert isinstance(answer, Candidate) == (path in found), path
    key = read_source(tmp_path, "key.txt", max_bytes=LIMIT, secrets=secrets)
    assert isinstance(key, SourceFile)
    assert "[secret: private-key]" in key.text


def test_only_the_user_can_readmit_and_unmask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    put(root, "prod.env", "text\n")
    put(root, "dev.env", "text\n")
    with pytest.raises(PathError, match="secret"):
        Service.open(root).read("prod.env")
    monkeypatch.setenv("KEYHOLE_SECRETS_READMIT", f"{root.resolve()}/prod.env, {tmp_path}/elsewhere/dev.env")
    service = Service.open(root)
    assert service.read("prod.env").text == "text\n"
    with pytest.raises(PathError, match="secret"):
        service.read("dev.env")
    for line in ["secrets.readmit = ['prod.env']", "secrets.mask = false"]:
        put(root, "keyhole.toml", f"{line}\n")
        with pytest.raises(ConfigError, match="cannot be set by a workspace"):
            load_settings(root)


def test_a_readmitted_path_is_indexed_by_the_next_run_and_removed_by_the_one_after(tmp_path: Path) -> None:
    put(tmp_path, "prod.env", "HARBOUR=1\n")
    put(tmp_path, "key.txt", f"HARBOUR\n{key_block()}")

    def indexed(*readmits: str) -> list[str]:
        service = Service.open(tmp_path, flags={"secrets.readmit": readmits, "index.model": "none"})
        service.index()
        found = [file.path for file in service.inventory().files]
        service.close()
        return found

    assert indexed() == []
    assert indexed("prod.env", "key.txt") == ["key.txt", "prod.env"]
    assert indexed("prod.env") == ["prod.env"]
    assert indexed() == []


def test_index_and_status_count_files_alike_whose_names_contain_tokens(tmp_path: Path) -> None:
    root = tmp_path / "root"
    names = [f"{'ghp' + '_'}{text_of(36)}" for _ in range(4)]
    for path in [f"a/{names[0]}.py", f"a/{names[1]}.py", f"{names[2]}/one.py", f"{names[3]}/two.py"]:
        put(root, path, "pier = 1\n")
    service = Service.open(root, flags={"cache_dir": tmp_path / "cache", "index.model": "none"})
    counts = [service.index().skipped, service.index().skipped, *(len(service.status().skips) for _ in range(2))]
    assert counts == [4] * 4
    mask = "[secret: github-token]"
    shown = [skip.path for skip in service.inventory().skips]
    assert shown == [mask, f"{mask} (2)", f"a/{mask}.py", f"a/{mask}.py (2)"]
    service.close()


def test_rules_see_the_name_that_the_folder_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "Private/Notes.txt", "text\n")
    put(tmp_path, ".gitignore", "Private/\n")
    if not (tmp_path / "private/notes.TXT").exists():
        # A file system that ignores case opens one file by both names, and lists one. Hard links do so if the listing
        # hides the other name.
        (tmp_path / "pRIVATE").mkdir()
        for alias in ["pRIVATE/nOTES.TXT", "pRIVATE/Notes.txt", "Private/nOTES.TXT"]:
            os.link(tmp_path / "Private/Notes.txt", tmp_path / alias)
        monkeypatch.setattr("keyhole.core.files.listed_names._listed_name", lambda _, name: name.swapcase())
        assert listed_path(tmp_path, "pRIVATE/nOTES.TXT") == "Private/Notes.txt"
        return
    assert listed_path(tmp_path, "private/notes.TXT") == "Private/Notes.txt"
    with pytest.raises(PathError, match="ignored"):
        Service.open(tmp_path).read("private/notes.TXT")
