// audit.export: the log as a folder or tar archive that verifies without this program. Writes only where nothing is yet.
import { z } from 'zod';
import { tarEnd, tarHeader, tarPadding } from '../../../lib/tar.ts';
import { AppError } from '../../../kernel/errors.ts';
import { defineOperation } from '../../../kernel/operation.ts';
import type { Files } from '../../../kernel/ports.ts';
import { bundleFiles, type BundleFile } from '../bundle.ts';
import { formatVerifierKey } from '../note.ts';
import type { AuditParts } from './parts.ts';

const input = z.strictObject({
  path: z.string().min(1).max(4_096).meta({ format: 'path' }).describe('A new folder, or a new file that ends in .tar.'),
});

const output = z.strictObject({
  path: z.string(),
  records: z.int(),
  files: z.int(),
  key: z.string(),
});

const badPath = (message: string): AppError =>
  new AppError('invalid', 'audit.bad_path', message, { hint: 'Name a new folder or a new .tar file.' });

type Sink = (file: BundleFile) => void;

function folderSink(files: Files, folder: string): Sink {
  return ({ name, bytes }) => {
    const file = files.openAppend(`${folder}/${name}`);
    try {
      file.append(bytes);
    } finally {
      file.close();
    }
  };
}

async function toArchive(
  files: Files,
  path: string,
  bundle: AsyncIterable<BundleFile>,
  modifiedAt: number,
  signal: AbortSignal,
): Promise<number> {
  const top = (path.split('/').at(-1) ?? '')
    .slice(0, -'.tar'.length)
    .replaceAll(/[^\w.-]/g, '-')
    .slice(0, 40);
  const archive = files.openAppend(path);
  let count = 0;
  try {
    for await (const { name, bytes } of bundle) {
      signal.throwIfAborted();
      archive.append(tarHeader(`${top}/${name}`, bytes.length, modifiedAt));
      archive.append(bytes);
      archive.append(tarPadding(bytes.length));
      count += 1;
    }
    archive.append(tarEnd);
    await archive.sync();
  } finally {
    archive.close();
  }
  return count;
}

export function exportOperation({ audit, files, verifierPath }: AuditParts) {
  return defineOperation<z.infer<typeof input>, z.infer<typeof output>>({
    name: 'audit.export',
    summary: 'Write the audit log as a bundle that anybody can verify offline.',
    input,
    output,
    effect: 'look',
    access: 'local',
    command: {
      words: 'audit export',
      positionals: ['path'],
      draw: ({ path, records }: z.infer<typeof output>) =>
        path.endsWith('.tar')
          ? `${records} records in ${path}.`
          : `${records} records in ${path}.\nVerify them with: node ${path}/verify-audit.mjs ${path}`,
    },
    async run({ path }, { signal }) {
      if (!path.startsWith('/')) throw badPath(`An export needs an absolute path, not '${path}'.`);
      if ((await files.size(path)) !== undefined) throw badPath(`There is something at ${path} already.`);
      const script = await files.readText(verifierPath);
      if (script === undefined) {
        throw new AppError(
          'internal',
          'audit.not_found',
          `The offline verifier is missing at ${verifierPath}; install the package again.`,
        );
      }
      const { evidence } = audit;
      const checkpoint = await evidence.settle();
      const bundle = bundleFiles(files, evidence, checkpoint, script);
      let count = 0;
      if (path.endsWith('.tar')) {
        count = await toArchive(files, path, bundle, evidence.now(), signal);
      } else {
        const write = folderSink(files, path);
        for await (const file of bundle) {
          signal.throwIfAborted();
          write(file);
          count += 1;
        }
      }
      return { path, records: checkpoint.size, files: count, key: formatVerifierKey(evidence.key) };
    },
  });
}
