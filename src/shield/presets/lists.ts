/** Networks of others, as they said at a day. What changes is changed here, with its day. */
export interface AddressList {
  name: string;
  title: string;
  /** When whoever publishes it last changed it, where they say so; else of when what it was compared with is. */
  dated: string;
  source: string;
  networks: readonly string[];
}

/** From which Cloudflare connects to the servers behind it. The day is theirs. */
export const cloudflare: AddressList = {
  name: 'cloudflare',
  title: 'Cloudflare',
  dated: '2023-09-28',
  source: 'https://www.cloudflare.com/ips/',
  networks: [
    ...['173.245.48.0/20', '103.21.244.0/22', '103.22.200.0/22', '103.31.4.0/22', '141.101.64.0/18'],
    ...['108.162.192.0/18', '190.93.240.0/20', '188.114.96.0/20', '197.234.240.0/22', '198.41.128.0/17'],
    ...['162.158.0.0/15', '104.16.0.0/13', '104.24.0.0/14', '172.64.0.0/13', '131.0.72.0/22'],
    ...['2400:cb00::/32', '2606:4700::/32', '2803:f800::/32', '2405:b500::/32', '2405:8100::/32'],
    ...['2a06:98c0::/29', '2c0f:f248::/32'],
  ],
};

/** Resolvers that answer everybody: Cloudflare's, Google's, Quad9's and OpenDNS'. */
export const resolvers: AddressList = {
  name: 'resolvers',
  title: 'Common DNS resolvers',
  dated: '2026-07-05',
  source:
    'https://one.one.one.one/dns/, https://developers.google.com/speed/public-dns, https://quad9.net, https://www.opendns.com',
  networks: [
    ...['1.1.1.1/32', '1.0.0.1/32', '8.8.8.8/32', '8.8.4.4/32', '9.9.9.9/32', '149.112.112.112/32'],
    ...['208.67.222.222/32', '208.67.220.220/32'],
    ...['2606:4700:4700::1111/128', '2606:4700:4700::1001/128', '2001:4860:4860::8888/128'],
    ...['2001:4860:4860::8844/128', '2620:fe::fe/128', '2620:fe::9/128', '2620:119:35::35/128'],
    ...['2620:119:53::53/128'],
  ],
};

/** All of them. */
export const addressLists: readonly AddressList[] = [cloudflare, resolvers];

/** Its networks of a family. */
export function ofFamily({ networks }: AddressList, family: 4 | 6): string[] {
  return networks.filter((network) => network.includes(':') === (family === 6));
}
