/** The operations in an order in which their examples can be sent, one after another, to a new product. */
export const story = [
  ...['listProducts', 'getProduct', 'getAccountDetails', 'listOrganizations', 'createSshKey', 'listSshKeys'],
  ...[
    'quoteCart',
    'checkout',
    'listInvoices',
    'getInvoice',
    'payInvoice',
    'listServices',
    'getServiceDetails',
  ],
  ...['listUsers', 'getUser', 'listOrganizationsAsStaff', 'getOrganizationAsStaff', 'listInvoicesAsStaff'],
  ...['getInvoiceAsStaff', 'listServicesAsStaff', 'getServiceAsStaff', 'listProductsAsStaff'],
  ...['stopVps', 'getVpsAction', 'startVps', 'restartVps', 'getVpsOverview', 'getVpsConsole', 'reinstallVps'],
  ...['getVpsIpAddresses', 'updateIpAddress', 'getPerformanceCharts', 'getVpsActionHistory'],
  ...['createSnapshot', 'getSnapshots', 'restoreSnapshot', 'deleteSnapshot', 'resetVpsPassword'],
  ...['updateVpsSshKeys', 'getVpsSshKeys', 'getVpsSettings', 'updateVpsSettings', 'upgradeVpsResources'],
  ...[
    'deleteSshKey',
    'createOrganization',
    'receiveBankTransfer',
    'bookBankTransfer',
    'refundInvoice',
    'grantAccountCredit',
    'getProductAsStaff',
  ],
  ...[
    'updateProduct',
    'listMails',
    'listFailedJobs',
    'listConcerns',
    'listNodes',
    'getNode',
    'updateNode',
    'listAddressPools',
  ],
  ...['addAddressPool', 'getAddressPool', 'changeAddressPool', 'updatePoolAddress', 'listPoolAddresses'],
  ...['listOperatingSystemImages', 'addOperatingSystemImage', 'getOperatingSystemImage'],
  ...['changeOperatingSystemImage', 'prepareOperatingSystemImage', 'removeOperatingSystemImage'],
];

/** Examples that need what a story where all goes well does not have, with the tests that send them instead. */
export const cannotBeSent: Record<string, string> = {
  cancelInvoice: 'needs an invoice that is not paid: billing/unpaid.test.ts',
  retryServiceDelivery: 'needs a delivery that failed: billing/refund.test.ts',
  deliverServiceByHand: 'needs a service that no room delivers: services/delivery/deliverByHand.test.ts',
  retryJob: 'needs a job that failed: billing/refund.test.ts',
  replaceNode: 'needs a node that is silent: fleet/nodes.test.ts',
  removeAddressPool: 'needs a pool without a reserved address: fleet/pools.test.ts',
};
