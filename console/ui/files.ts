/** Files that the browser saves, or that somebody chooses. */

export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Saves a file of any length: each part is stored as it arrives, not kept as text. */
export async function saveParts(name: string, type: string, parts: AsyncIterable<BlobPart>): Promise<void> {
  const blobs: Blob[] = [];
  for await (const part of parts) blobs.push(new Blob([part]));
  saveFile(name, new Blob(blobs, { type }), type);
}

/** Resolves to undefined if no file was chosen. */
export function chooseFile(): Promise<Uint8Array | undefined> {
  const input = document.createElement('input');
  input.type = 'file';
  return new Promise((resolve, reject) => {
    input.addEventListener('cancel', () => resolve(undefined));
    input.addEventListener('change', () => {
      const [file] = input.files ?? [];
      if (!file) resolve(undefined);
      else file.arrayBuffer().then((buffer) => resolve(new Uint8Array(buffer)), reject);
    });
    input.click();
  });
}
