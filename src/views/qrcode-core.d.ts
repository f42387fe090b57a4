/** The part of the `qrcode` package that the widget uses: its encoder without the renderers. The package has no types. */
declare module 'qrcode/lib/core/qrcode.js' {
  interface QrCode {
    readonly modules: { readonly size: number; get(row: number, column: number): number | boolean };
  }
  interface Segment {
    readonly data: string;
    readonly mode: 'byte';
  }
  const core: {
    create(segments: readonly Segment[], options: { errorCorrectionLevel: 'L' | 'M' | 'Q' | 'H' }): QrCode;
  };
  export default core;
}
