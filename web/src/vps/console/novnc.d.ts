/** What we use of noVNC, which brings no types. */
declare module '@novnc/novnc' {
  // biome-ignore lint/style/noDefaultExport: it is what noVNC exports
  export default class Rfb extends EventTarget {
    constructor(place: HTMLElement, channel: WebSocket);
    scaleViewport: boolean;
    background: string;
    focus(): void;
    sendKey(keysym: number, code: string | null): void;
    sendCtrlAltDel(): void;
    disconnect(): void;
  }
}
