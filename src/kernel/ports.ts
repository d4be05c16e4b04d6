// The outside world as the features see it. Implementations live in platform/, one file per port; fakes in test/support/.
import type { ClientHost } from './client-host.ts';
import type { JsonObject } from './json.ts';
import type { UpstreamReply } from './upstream-reply.ts';

export type { UpstreamReply };

export type Unsubscribe = () => void;

export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary start; never goes back. */
  monotonic(): number;
  /** Runs `task` once after `ms` milliseconds unless cancelled; the timer alone never keeps the process alive. */
  after(ms: number, task: () => void): Unsubscribe;
  /** Runs `task` once at the end of this turn of the event loop, when everything that has already arrived was looked at. */
  soon(task: () => void): void;
}

export interface Entropy {
  bytes(length: number): Uint8Array;
  /** A random (version 4) UUID, RFC 9562. */
  uuid(): string;
}

export interface Digest {
  sha256(data: string | Uint8Array): Uint8Array;
  hmacSha256(key: Uint8Array, data: string | Uint8Array): Uint8Array;
  /** The same in base64url without padding (RFC 4648 §5). */
  hmacSha256Text(key: Uint8Array, data: string | Uint8Array): string;
}

/** Ed25519 (RFC 8032) over raw bytes; keys and signatures are raw 32 and 64 bytes. */
export interface Signer {
  readonly publicKey: Uint8Array;
  sign(data: Uint8Array): Uint8Array;
}

export interface Verifier {
  verify(publicKey: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean;
}

/** What the vault is made of. Keys are 32 bytes, nonces 12; `undefined` where something does not open. */
export interface VaultCipher {
  /** AES-256-GCM (NIST SP 800-38D): ciphertext and tag, bound to `bound`. A nonce is used once with a key. */
  seal(key: Uint8Array, nonce: Uint8Array, bound: Uint8Array, plain: Uint8Array): Uint8Array;
  open(key: Uint8Array, nonce: Uint8Array, bound: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
  /** HKDF-SHA256 (RFC 5869) without salt: 32 bytes. */
  derive(secret: Uint8Array, info: Uint8Array): Uint8Array;
  /** X25519 (RFC 7748). */
  publicKey(privateKey: Uint8Array): Uint8Array;
  /** HPKE (RFC 9180), base mode, X25519, HKDF-SHA256, AES-256-GCM. `ephemeral`: 32 random bytes, used this once. */
  sealTo(publicKey: Uint8Array, ephemeral: Uint8Array, info: Uint8Array, plain: Uint8Array): Uint8Array;
  openWith(privateKey: Uint8Array, info: Uint8Array, sealed: Uint8Array): Uint8Array | undefined;
}

/** A private key that was read; it signs and is never shown again. */
export interface SigningKey {
  /** RFC 7518 §3.1, RFC 8037. */
  readonly algorithm: 'RS256' | 'ES256' | 'EdDSA';
  /** `kid` of a JWK that has one. */
  readonly keyId?: string;
  /** The JWS signature (ES256: r and s one behind the other), off the event loop. */
  sign(data: string): Promise<Uint8Array>;
}

/** Private keys that people keep as text. HMAC-SHA256 is `Digest`. */
export interface KeySigner {
  /**
   * PEM (PKCS #8, PKCS #1, SEC 1) or JWK: RSA from 2048 bits, P-256, Ed25519. Anything else gives `problem`, the end of a sentence about
   * the secret that holds no part of it.
   */
  read(text: string): SigningKey | { readonly problem: string };
}

/** One exchange with an endpoint that gives tokens. */
export interface TokenRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** For the whole exchange, the body of the answer included. */
  readonly timeoutMs: number;
  /** Of the body of the answer, in bytes. */
  readonly maxBytes: number;
}

export interface TokenAnswer {
  readonly status: number;
  /** Lower-case names; those that came several times are joined as RFC 9110 §5.3 has it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Requests that carry credentials and bring them back: over verified TLS, or plain HTTP to this very machine; no redirect is followed, a 3xx
 * is an answer like any other; nothing of a request or an answer is logged or in an error.
 */
export interface TokenHttp {
  /**
   * Rejects with `auth.unreachable` (unavailable) when no whole answer came, with `auth.url_refused` (invalid) for a URL that is neither
   * https nor loopback, and with `auth.cancelled` (unavailable) when the signal aborted.
   */
  request(request: TokenRequest): Promise<TokenAnswer>;
}

/** A place of the machine that keeps a secret of at least 32 bytes, with which the vault opens without a person. */
export interface StartKey {
  /** `undefined` when there is none. Rejects with `vault.start_key` (unavailable), in words, when the place cannot be asked. */
  read(name: string): Promise<Uint8Array | undefined>;
  /** Keeps a new random secret under `name`, or takes the one that the machine provides. The same rejections. */
  make(name: string): Promise<Uint8Array>;
  /** Best effort: a secret that is left over opens nothing. */
  remove(name: string): Promise<void>;
}

/** Structured operator log (stderr). Never given a credential value, an argument of a call or a result. */
export interface Log {
  debug(message: string, fields?: JsonObject): void;
  info(message: string, fields?: JsonObject): void;
  warn(message: string, fields?: JsonObject): void;
  error(message: string, fields?: JsonObject): void;
}

/** A file that only grows, for the audit log. Numbers are bytes. */
export interface AppendFile {
  readonly size: number;
  /** One synchronous write. A failed or partial write is cut back to the previous size, then `platform.write_failed` is thrown. */
  append(bytes: Uint8Array): void;
  /** fdatasync, off the event loop. */
  sync(): Promise<void>;
  truncate(size: number): void;
  close(): void;
}

/** Files of the home. Paths are absolute; new files are 0600 and new folders 0700 unless said otherwise. */
export interface Files {
  /** `undefined` when there is no such file. */
  readText(path: string): Promise<string | undefined>;
  readBytes(path: string, range?: { offset: number; length: number }): Promise<Uint8Array | undefined>;
  size(path: string): Promise<number | undefined>;
  /** Write to a temporary neighbour, fsync, rename, fsync the folder. */
  writeAtomic(path: string, data: string | Uint8Array): Promise<void>;
  /** Names in a folder, sorted; empty when there is no such folder. */
  list(folder: string): Promise<string[]>;
  remove(path: string): Promise<void>;
  openAppend(path: string): AppendFile;
  /** Calls back, debounced, when the file appears, changes or goes away. Survives editors that replace the file. */
  watch(path: string, changed: () => void): Unsubscribe;
}

/**
 * Files outside the home that hold a secret, or say how one is to look. Every folder on the way is opened without following a link, and what
 * is done is done inside the folder that was opened, whatever its path leads to meanwhile. Throws `placements.unsafe_place` (kind denied)
 * for links, folders of others, the home, files with several names and what is no plain file; `placements.failed` (unavailable) otherwise.
 */
export interface PlacedFiles {
  /** The whole of it; `undefined` when the folder is there and the file is not. More than `mostBytes` is refused. */
  read(path: string, mostBytes: number): Promise<Uint8Array | undefined>;
  /**
   * One step for every reader, 0600, on stable storage when it resolves. `backup`: where a copy of the file before goes, 0600 as well.
   * `expected`: hex SHA-256 of the file that is to be there, `undefined` for none; any other one is `placements.changed` (conflict).
   */
  replace(path: string, content: Uint8Array, how: ReplacingFile): Promise<void>;
}

export type ReplacingFile =
  | { readonly mostBytes: number }
  | { readonly mostBytes: number; readonly expected: string | undefined; readonly backup: string };

export interface ChildSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A supervised child: own process group, tied to the life of this process. Frames are lines without their newline. */
export interface Child {
  readonly pid: number;
  /** False once the pipe is full; the frame is queued. Throws `process.closed`, or `process.backed_up` when too much is queued. */
  writeLine(line: string): boolean;
  onLine(listener: (line: string) => void): void;
  onStderr(listener: (text: string) => void): void;
  /** A line of stdout was dropped: longer than the bound, or not UTF-8. */
  onFault(listener: (fault: 'oversize' | 'encoding') => void): void;
  readonly exited: Promise<ChildExit>;
  /** Close stdin, SIGTERM the group, after `graceMs` SIGKILL it; resolves when the group is gone. */
  stop(graceMs: number): Promise<void>;
}

export interface Spawner {
  /** Rejects with `process.spawn_failed` (kind unavailable) when the program cannot be started. */
  spawn(spec: ChildSpec): Promise<Child>;
}

/** What the caller of a request said of itself; shown to upstreams that are told so with every request (2026-07-28). */
export interface UpstreamClient {
  readonly capabilities: JsonObject;
  readonly info: JsonObject | undefined;
  /** The least severe log messages it wants about the request; without one none. */
  readonly logLevel?: string | undefined;
}

/** What a request is about, for transports that repeat parts of the body in headers. */
export interface UpstreamSubject {
  readonly name: string;
  readonly args: JsonObject | undefined;
  /** The accepted definition of a tool as JSON text; empty for what has none, such as a prompt or a resource. */
  readonly definition: string;
}

export interface UpstreamRequestOptions {
  /** Aborting sends `notifications/cancelled` under the upstream's own id and rejects with `fleet.cancelled`. */
  readonly signal: AbortSignal;
  /**
   * Milliseconds without an answer, begun anew by each progress notice, ten times as long in all. Passing them cancels upstream and rejects
   * with `fleet.timeout`.
   */
  readonly timeoutMs: number;
  /** Asks the upstream for progress; notices arrive in the order of the frames, also within one chunk. */
  readonly onProgress?: (note: JsonObject) => void;
  readonly subject?: UpstreamSubject;
  /** Absent: a caller of a 2025 revision, or the gateway itself. */
  readonly client?: UpstreamClient;
  /**
   * Whom this request may be asked back about. A request or log message of the upstream reaches the host of the call it came with
   * (the stream of its POST); where that cannot be told, the one host that all calls in flight share; else the host of the opening;
   * otherwise nobody, and the upstream is refused (DESIGN §5, Upstream sharing).
   */
  readonly host?: ClientHost;
  /** Over HTTP: what it is logged in with, names and values in turn, in place of what its connection is. The same list while it stays. */
  readonly login?: readonly string[];
}

/** How a connection ended. `lost`: the upstream forgot the session, in its own words or ours; nobody failed. */
export interface UpstreamEnd extends ChildExit {
  /** Bounded; empty where there is no stderr. */
  readonly stderrTail: string;
  readonly lost?: string;
}

/** An MCP session with one upstream, or what stands for it where the upstream keeps none. */
export interface UpstreamConnection {
  /** Of the child, where there is one. */
  readonly pid?: number;
  /** The upstream keeps state for this session, so that every agent session needs a connection of its own. */
  readonly perSession?: boolean;
  readonly protocolVersion: string;
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject;
  /** What the upstream wants models to know of it, as it said at the handshake. */
  readonly instructions?: string;
  /** Does a request of the upstream wait for its client's answer? */
  asking?(): boolean;
  /**
   * `params` is JSON text of an object, without a progress token. Rejects with `fleet.exited` when the connection ends first, with
   * `fleet.session_lost` when the upstream no longer knows the session and so did nothing.
   */
  request(method: string, params: string | undefined, options: UpstreamRequestOptions): Promise<UpstreamReply>;
  /**
   * Notices about the connection as a whole: changed lists, updated resources, status of tasks. Everything else goes to a host.
   * `text` is the JSON text of the params.
   */
  onNotification(listener: (method: string, params: JsonObject | undefined, text: string | undefined) => void): void;
  /**
   * Asks for `notifications/resources/updated` about a resource, in whatever way the revision has for that, or no longer for it.
   * Resolves when the upstream agreed or refused; idempotent.
   */
  subscribe(uri: string, options: UpstreamRequestOptions): Promise<UpstreamReply>;
  unsubscribe(uri: string, options: UpstreamRequestOptions): Promise<UpstreamReply>;
  /** A notification to the upstream; nothing where its revision has none, or nobody reads any more. */
  notify(method: string, params?: JsonObject): void;
  /** Resolves once, when the connection is of no further use. */
  readonly closed: Promise<UpstreamEnd>;
  close(graceMs: number): Promise<void>;
}

export interface UpstreamOpening {
  readonly startTimeoutMs: number;
  readonly signal: AbortSignal;
  /** The one client this connection is for: its capabilities and info are what the upstream is told. Absent: the gateway's own, which declares none. */
  readonly host?: ClientHost;
  /**
   * What an upstream is told it could ask where no client stands behind the connection, because what it lists may depend on that. Whatever
   * it asks there is refused.
   */
  readonly declares?: JsonObject;
}

export interface UpstreamConnector {
  /** Spawns and initializes within `startTimeoutMs`, or stops the whole process group and rejects with `fleet.start_failed` and the stderr tail. */
  open(spec: ChildSpec, options: UpstreamOpening): Promise<UpstreamConnection>;
}

export interface HttpTarget {
  /** An absolute http or https URL without user info or fragment. */
  readonly url: string;
  /** Fixed headers, by their names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Which addresses its name may lead to; `local`: none that is link-local or hands out credentials of the machine. Default: any. */
  readonly addresses?: 'any' | 'local' | 'public';
  /** What it is logged in with now, names and values in turn; asked before each request. The same list while it stays. */
  readonly login?: () => readonly string[];
  /** What an upstream turned out to speak is remembered under this key. */
  readonly key: string;
}

export interface HttpConnector {
  /**
   * Finds out what the upstream speaks and begins a session within `startTimeoutMs`. With `listens`, its notices are waited for as well.
   * Rejects with `fleet.start_failed`, `fleet.unreachable`, `fleet.auth_broken` or `fleet.refused`.
   */
  open(target: HttpTarget, options: UpstreamOpening & { readonly listens: boolean }): Promise<UpstreamConnection>;
  /** Closes connections that are kept for further requests. */
  close(): void;
}
