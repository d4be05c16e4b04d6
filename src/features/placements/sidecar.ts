// What stands beside a placed file so that a person can refresh it (gate contract, scopegate_inject_file). Anybody may write such a file, so
// one is believed only where it is, byte for byte, what the database says was written.
import { sidecarEnding, type Placement } from './model.ts';

export const sidecarOf = (out: string): string => `${out}${sidecarEnding}`;

/** The digest is salted: the sidecar of a short secret that ends up in a repository must not let anybody try out values. */
export function sidecarText({ ref, out, template, templateFile, digest, placedAt }: Placement): string {
  const source = templateFile === undefined ? { template } : { templateFile };
  return `${JSON.stringify({ ref, out, ...source, digest: `hmac-sha256:${digest}`, materializedAt: placedAt }, null, 2)}\n`;
}
